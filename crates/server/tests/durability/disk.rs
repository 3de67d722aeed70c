//! A full disk or a read-only folder: writes are refused until it can be written again, reads
//! continue, and no write is applied in part.

use std::{
    fs::{self, File, Permissions},
    io::Write,
    os::unix::{
        fs::{MetadataExt, PermissionsExt, chown},
        process::CommandExt,
    },
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::{Value, json};

use testkit::{
    Client, Installation, PRODUCTS, Role, Server, printed, product, product_named, refused,
};

use crate::NO_MODEL;

/// More writes than any of the small disks here can hold.
const MANY: usize = 2000;
/// The user id of `nobody`.
const NOBODY: u32 = 65534;

/// A product that takes some space.
fn large(n: usize) -> Value {
    json!({"title": format!("Rug {n}"), "price": "$5.00", "description": "wool ".repeat(2000)})
}

/// Creates products until the server refuses one; returns the number created.
fn fill(client: &Client) -> usize {
    let full = (0..MANY).find(|n| client.post(PRODUCTS, large(*n)).is_unavailable());
    full.expect("the disk never became full")
}

/// Checks that reads, lists and searches return all rugs and the lamp, each complete.
fn still_reads(client: &Client, rugs: usize) {
    assert_eq!(client.get("/health/live").status, 200);
    assert_eq!(client.get(&product(1)).body["title"], "Lamp");
    let (products, total) = client.list_all();
    assert_eq!((products.len(), total), (rugs + 1, rugs + 1));
    for product in &products[1..] {
        assert_eq!(product["description"].as_str().unwrap().len(), 10_000);
    }
    assert_eq!(client.search_all("wool").1, rugs);
    assert_eq!(client.search_all("lamp").1, 1);
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

    /// Aborts the file system, as the kernel does after an error: no write succeeds any more, not
    /// even through open files.
    fn abort(&self) {
        assert!(succeeds("mount", &["-o", "remount,abort"], &self.0));
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Lazily: the server may still have files open.
        succeeds("umount", &["-l"], &self.0);
    }
}

fn succeeds(program: &str, arguments: &[&str], path: &Path) -> bool {
    let output = Command::new(program).args(arguments).arg(path).output();
    output.is_ok_and(|output| output.status.success())
}

#[test]
fn on_a_full_disk_writes_are_refused_until_there_is_space_again() {
    let folder = tempfile::tempdir().unwrap();
    let Some(disk) = SmallDisk::in_memory(folder.path()) else {
        eprintln!("not allowed to mount a small disk; a limit on file sizes stands in for it");
        return;
    };
    let store = Installation::on_folder(&disk.0.join("data"));
    let token = store.token(1, Role::Editor);
    let server = store.serve(&NO_MODEL);
    let client = server.client(&token);
    assert_eq!(client.create(product_named("Lamp")), 1);
    let ballast = disk.0.join("ballast");
    File::create(&ballast).unwrap().write_all(&vec![0; 1 << 20]).unwrap();

    let mut rugs = fill(&client);
    server.wait_for_log("the disk is full");
    still_reads(&client, rugs);
    assert!(client.post(PRODUCTS, large(0)).is_unavailable());
    assert!(server.is_running());

    fs::remove_file(ballast).unwrap();
    client.create(large(0));
    rugs += 1;
    still_reads(&client, rugs);
    server.kill();
    still_reads(&store.serve(&NO_MODEL).client(&token), rugs);
}

#[test]
fn with_a_file_size_limit_writes_are_refused_and_nothing_is_lost() {
    let store = Installation::temporary();
    let token = store.token(1, Role::Editor);
    let limit = ["sh", "-c", "trap '' XFSZ; ulimit -f 2048; exec \"$0\" \"$@\""];
    let serve = [&["serve", "--listen", "127.0.0.1:0"], &NO_MODEL[..]].concat();
    let server = Server::start(&mut store.wrapped(&limit, &serve));
    let client = server.client(&token);
    assert_eq!(client.create(product_named("Lamp")), 1);

    let mut rugs = fill(&client);
    server.wait_for_log("a write could not be stored");
    still_reads(&client, rugs);
    assert!(server.is_running());
    server.kill();

    let server = store.serve(&NO_MODEL);
    let client = server.client(&token);
    still_reads(&client, rugs);
    client.create(large(0));
    rugs += 1;
    still_reads(&client, rugs);
}

#[test]
fn on_a_read_only_disk_reads_continue_and_nothing_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let (image, at) = (folder.path().join("image"), folder.path().join("disk"));
    File::create(&image).unwrap().set_len(16 << 20).unwrap();
    fs::create_dir(&at).unwrap();
    let made = succeeds("mkfs.ext4", &["-q"], &image);
    let Some(disk) = made.then(|| SmallDisk::in_file(&image, &at)).flatten() else {
        eprintln!("not allowed to make and mount a disk that breaks");
        return;
    };
    let store = Installation::on_folder(&at.join("data"));
    let token = store.token(1, Role::Editor);
    let server = store.serve(&NO_MODEL);
    let client = server.client(&token);
    assert_eq!(client.create(product_named("Lamp")), 1);
    let rugs = 10;
    for n in 0..rugs {
        client.create(large(n));
    }

    disk.abort();
    for n in 0..3 {
        assert!(client.post(PRODUCTS, large(n)).is_unavailable());
    }
    server.wait_for_log("a write could not be stored");
    still_reads(&client, rugs);
    assert!(server.is_running());
    server.kill();
    let (_, errors) = refused(&mut store.serve_command(&NO_MODEL));
    assert!(errors.contains(store.data().to_str().unwrap()), "{errors}");

    drop(disk);
    let _mended = SmallDisk::in_file(&image, &at).unwrap();
    let server = store.serve(&NO_MODEL);
    still_reads(&server.client(&token), rugs);
}

/// A folder whose permissions apply to the server: it runs as `nobody` where the test is run by
/// root, to whom permissions do not apply.
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
            // `nobody` may not be able to read the folder that the binary was built in.
            fs::copy(testkit::shopkeeper().get_program(), guarded.program()).unwrap();
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

    fn command(&self, arguments: &[&str]) -> Command {
        let store = Installation::on_folder(&self.data());
        if !self.as_nobody {
            return store.command(arguments);
        }
        let mut command = store.with_binary(&self.program()).command(arguments);
        command.uid(NOBODY).gid(NOBODY);
        command
    }

    fn server(&self) -> Command {
        self.command(&["serve", "--listen", "127.0.0.1:0"])
    }

    /// Makes the folder and its files read-only, or writable by their owner again.
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
    let token = printed(guarded.command(&issue).output().unwrap()).trim_end().to_owned();
    let server = Server::start(&mut guarded.server());
    let client = server.client(&token);
    assert_eq!(client.create(product_named("Lamp")), 1);

    guarded.set_writable(false);
    // Open files may still be written; such writes must be durable.
    let rugs = (0..20).filter(|n| !client.post(PRODUCTS, large(*n)).is_unavailable()).count();
    still_reads(&client, rugs);
    assert!(server.is_running());
    server.kill();

    for mut command in [guarded.server(), guarded.command(&issue)] {
        let (_, errors) = refused(&mut command);
        assert!(errors.contains(guarded.data().to_str().unwrap()), "{errors}");
    }
    guarded.set_writable(true);
    still_reads(&Server::start(&mut guarded.server()).client(&token), rugs);
}
