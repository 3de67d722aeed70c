//! What if the disk is full, or the folder may no longer be written? Writes are refused until
//! that is over; reads go on; nothing is half written.

use std::{
    fs::{self, File, Permissions},
    io::Write,
    os::unix::{
        fs::{MetadataExt, PermissionsExt, chown},
        process::CommandExt,
    },
    path::{Path, PathBuf},
};

use serde_json::{Value, json};

use crate::{
    client::{Client, lamp},
    server::{Server, issue_token, refused, serve, shopkeeper, without_environment},
};

/// More writes than any of the small disks here can hold.
const MANY: usize = 2000;
/// Someone other than root: nobody, on every Linux.
const NOBODY: u32 = 65534;

/// A product that takes some space.
fn large(n: usize) -> Value {
    json!({"title": format!("Rug {n}"), "price": "$5.00", "description": "wool ".repeat(2000)})
}

/// Writes until the server says it cannot, and returns how many it could.
fn fill(client: &Client) -> usize {
    let full = (0..MANY).find(|n| client.create(&large(*n)).unwrap().is_unavailable());
    full.expect("the disk never became full")
}

/// Reads, lists and searches show these many rugs and one lamp, each whole.
fn still_reads(client: &Client, rugs: usize) {
    assert_eq!(client.get("/health/live").status, 200);
    assert_eq!(client.product(1).body["title"], "Lamp");
    let (products, total) = client.list();
    assert_eq!((products.len(), total), (rugs + 1, rugs + 1));
    for product in &products[1..] {
        assert_eq!(product["description"].as_str().unwrap().len(), 10_000);
    }
    assert_eq!(client.search("wool").1, rugs);
    assert_eq!(client.search("lamp").1, 1);
}

/// A file system of the test's own, unmounted at the end.
struct SmallDisk(PathBuf);

impl SmallDisk {
    /// In memory, 4 MiB. `None` where mounting is not allowed.
    fn in_memory(at: &Path) -> Option<Self> {
        Self::mount(at, &["-t", "tmpfs", "-o", "size=4m", "tmpfs"])
    }

    /// In a file. `None` where mounting is not allowed.
    fn in_file(image: &Path, at: &Path) -> Option<Self> {
        Self::mount(at, &["-o", "loop", image.to_str().unwrap()])
    }

    fn mount(at: &Path, what: &[&str]) -> Option<Self> {
        succeeds("mount", what, at).then(|| Self(at.to_owned()))
    }

    /// Does to the file system what the kernel does when it finds it broken: from now on it
    /// cannot be written, through open files neither.
    fn break_down(&self) {
        assert!(succeeds("mount", &["-o", "remount,abort"], &self.0));
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Whatever became of the test, its disk goes when the last user of it has gone.
        succeeds("umount", &["-l"], &self.0);
    }
}

fn succeeds(program: &str, arguments: &[&str], path: &Path) -> bool {
    let output = without_environment(program).args(arguments).arg(path).output();
    output.is_ok_and(|output| output.status.success())
}

#[test]
fn on_a_full_disk_writes_are_refused_until_there_is_space_again() {
    let folder = tempfile::tempdir().unwrap();
    let Some(disk) = SmallDisk::in_memory(folder.path()) else {
        eprintln!("not allowed to mount a small disk; a limit on file sizes stands in for it");
        return;
    };
    let data = disk.0.join("data");
    let token = issue_token(&data, "EDITOR");
    let mut server = Server::start(&data);
    let client = server.client(&token);
    assert_eq!(client.create(&lamp("Lamp")).unwrap().id(), 1);
    let ballast = disk.0.join("ballast");
    File::create(&ballast).unwrap().write_all(&vec![0; 1 << 20]).unwrap();

    let mut rugs = fill(&client);
    server.wait_for_log("the disk is full");
    still_reads(&client, rugs);
    assert!(client.create(&large(0)).unwrap().is_unavailable());
    assert!(server.is_running());

    fs::remove_file(ballast).unwrap();
    client.create(&large(0)).unwrap().id();
    rugs += 1;
    still_reads(&client, rugs);
    server.kill();
    still_reads(&Server::start(&data).client(&token), rugs);
}

#[test]
fn with_files_that_may_not_grow_writes_are_refused_and_nothing_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let token = issue_token(folder.path(), "EDITOR");
    let mut limited = without_environment("sh");
    let script = "trap '' XFSZ; ulimit -f 2048; exec \"$0\" \"$@\"";
    limited.args(["-c", script, env!("CARGO_BIN_EXE_shopkeeper")]);
    serve(&mut limited, folder.path());
    let mut server = Server::run(&mut limited);
    let client = server.client(&token);
    assert_eq!(client.create(&lamp("Lamp")).unwrap().id(), 1);

    let mut rugs = fill(&client);
    server.wait_for_log("a write could not be stored");
    still_reads(&client, rugs);
    assert!(server.is_running());
    server.kill();

    let server = Server::start(folder.path());
    let client = server.client(&token);
    still_reads(&client, rugs);
    client.create(&large(0)).unwrap().id();
    rugs += 1;
    still_reads(&client, rugs);
}

#[test]
fn on_a_disk_that_turned_read_only_reads_go_on_and_nothing_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let (image, at) = (folder.path().join("image"), folder.path().join("disk"));
    File::create(&image).unwrap().set_len(16 << 20).unwrap();
    fs::create_dir(&at).unwrap();
    let made = succeeds("mkfs.ext4", &["-q"], &image);
    let Some(disk) = made.then(|| SmallDisk::in_file(&image, &at)).flatten() else {
        eprintln!("not allowed to make and mount a disk that breaks");
        return;
    };
    let data = at.join("data");
    let token = issue_token(&data, "EDITOR");
    let mut server = Server::start(&data);
    let client = server.client(&token);
    assert_eq!(client.create(&lamp("Lamp")).unwrap().id(), 1);
    let rugs = 10;
    for n in 0..rugs {
        client.create(&large(n)).unwrap().id();
    }

    disk.break_down();
    for n in 0..3 {
        assert!(client.create(&large(n)).unwrap().is_unavailable());
    }
    server.wait_for_log("a write could not be stored");
    still_reads(&client, rugs);
    assert!(server.is_running());
    server.kill();
    let mut again = shopkeeper();
    serve(&mut again, &data);
    let (_, said) = refused(&mut again);
    assert!(said.contains(data.to_str().unwrap()), "{said}");

    drop(disk);
    let _mended = SmallDisk::in_file(&image, &at).unwrap();
    let server = Server::start(&data);
    still_reads(&server.client(&token), rugs);
}

/// A folder whose permissions hold for the server: it runs as somebody else where the test is
/// run by root, whom no permission stops.
struct Guarded {
    folder: tempfile::TempDir,
    as_nobody: bool,
}

impl Guarded {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let as_nobody = folder.path().metadata().unwrap().uid() == 0;
        let guarded = Self { folder, as_nobody };
        fs::create_dir(guarded.data()).unwrap();
        if as_nobody {
            // The folder that the binary was built in may be closed to others.
            fs::copy(env!("CARGO_BIN_EXE_shopkeeper"), guarded.program()).unwrap();
            for path in [guarded.folder.path(), &guarded.data(), &guarded.program()] {
                chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
            }
        }
        guarded
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn program(&self) -> PathBuf {
        self.folder.path().join("shopkeeper")
    }

    fn command(&self, arguments: &[&str]) -> std::process::Command {
        let mut command = match self.as_nobody {
            true => without_environment(self.program()),
            false => shopkeeper(),
        };
        if self.as_nobody {
            command.uid(NOBODY).gid(NOBODY);
        }
        command.args(arguments).arg("--data").arg(self.data());
        command
    }

    fn server(&self) -> std::process::Command {
        self.command(&["serve", "--listen", "127.0.0.1:0"])
    }

    /// Lets nobody write the folder and what is in it, or its owner again.
    fn set_writable(&self, writable: bool) {
        let (of_files, of_folder) = if writable { (0o644, 0o755) } else { (0o444, 0o555) };
        for entry in fs::read_dir(self.data()).unwrap() {
            let path = entry.unwrap().path();
            fs::set_permissions(path, Permissions::from_mode(of_files)).unwrap();
        }
        fs::set_permissions(self.data(), Permissions::from_mode(of_folder)).unwrap();
    }
}

#[test]
fn a_folder_that_becomes_read_only_loses_nothing_and_is_refused_at_the_next_start() {
    let guarded = Guarded::new();
    let issue = ["token", "create", "--shop", "1", "--role", "EDITOR"];
    let token = crate::server::output_of(&mut guarded.command(&issue));
    let mut server = Server::run(&mut guarded.server());
    let client = server.client(&token);
    assert_eq!(client.create(&lamp("Lamp")).unwrap().id(), 1);

    guarded.set_writable(false);
    // Files that were open before may still be written: then it must last.
    let rugs = (0..20).filter(|n| !client.create(&large(*n)).unwrap().is_unavailable()).count();
    still_reads(&client, rugs);
    assert!(server.is_running());
    server.kill();

    for command in [&mut guarded.server(), &mut guarded.command(&issue)] {
        let (_, said) = refused(command);
        assert!(said.contains(guarded.data().to_str().unwrap()), "{said}");
    }
    guarded.set_writable(true);
    still_reads(&Server::run(&mut guarded.server()).client(&token), rugs);
}
