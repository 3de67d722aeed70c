//! Draining, logs, file modes, key rotation.

use std::{
    fs::{self, File},
    net::TcpStream,
    os::unix::fs::{FileExt, PermissionsExt},
    path::Path,
    sync::Arc,
    time::Duration,
};

use jsonwebtoken::Header;
use rustix::process::Signal;
use tempfile::TempDir;
use testkit::{PRODUCTS, Role, TestServer, printed, product_named, run, until};

use crate::provider::{Provider, SigningKey, claims, sign, start};

const READY: &str = "/health/ready";
/// Longer than any test waits.
const LONG_DRAIN: Duration = Duration::from_secs(600);
/// Where SQLite keeps the number of the schema in a database file.
const SCHEMA_VERSION_AT: u64 = 60;

fn status(server: &TestServer, token: &str) -> u16 {
    server.client(token).get(PRODUCTS).status
}

#[test]
fn a_key_taken_out_of_the_key_set_stops_working_without_a_restart() {
    let provider = Provider::new();
    let server = provider.start("RS256,ES256,EdDSA");
    let [removed, also_removed, kept] = &provider.keys;
    let tokens = [removed, also_removed].map(|key| key.sign(&claims()));
    let kept = (kept.sign(&claims()), kept);
    for token in tokens.iter().chain([&kept.0]) {
        assert_eq!(status(&server, token), 200);
    }
    // No token of an unknown key ever comes: the file itself is what tells.
    provider.publish(&[kept.1]);
    for token in &tokens {
        until("the removed key is refused", || {
            assert_eq!(status(&server, &kept.0), 200);
            status(&server, token) == 401
        });
    }
    // A file that is damaged for a moment changes nothing.
    fs::write(&provider.file, "{\"keys\": [").unwrap();
    until("a warning", || server.log().contains("stay trusted for a while"));
    assert_eq!(status(&server, &kept.0), 200);
    assert_eq!(status(&server, &tokens[0]), 401);
    provider.publish(&[removed, kept.1]);
    until("the key is back", || status(&server, &tokens[0]) == 200);
    assert_eq!(status(&server, &kept.0), 200);
}

#[test]
fn a_damaged_key_set_does_not_keep_its_keys_trusted_for_ever() {
    let provider = Provider::new();
    let flags = ["--jwt-jwks-file", &provider.file, "--jwt-file-grace", "1s"];
    let server = start("RS256,ES256,EdDSA", &flags);
    let token = provider.keys[2].sign(&claims());
    assert_eq!(status(&server, &token), 200);
    fs::remove_file(&provider.file).unwrap();
    until("the keys expire", || status(&server, &token) == 401);
    provider.publish(&provider.keys.each_ref());
    until("the keys are back", || status(&server, &token) == 200);
}

#[test]
fn a_replaced_secret_file_replaces_the_secret() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("secret");
    let secrets = ["the first secret, of more than 32 bytes", "the second secret, of 32 bytes too"];
    let tokens = secrets.map(|secret| {
        sign(&Header::default(), &claims(), &SigningKey::from_secret(secret.as_bytes()))
    });
    fs::write(&file, secrets[0]).unwrap();
    let server = start("HS256", &["--jwt-secret-file", file.to_str().unwrap()]);
    assert_eq!(tokens.each_ref().map(|token| status(&server, token)), [200, 401]);
    let draft = folder.path().join("secret.new");
    fs::write(&draft, secrets[1]).unwrap();
    fs::rename(draft, &file).unwrap();
    until("the new secret", || tokens.each_ref().map(|token| status(&server, token)) == [401, 200]);
}

fn is_listening(server: &TestServer) -> bool {
    TcpStream::connect(server.address()).is_ok()
}

fn start_draining(drain: Duration) -> (Arc<TestServer>, String) {
    let server = TestServer::start(&["--limits-drain-time", &format!("{}s", drain.as_secs())]);
    let token = server.shop().token(Role::Editor);
    until("readiness", || server.stranger().get(READY).status == 200);
    (server, token)
}

#[test]
fn a_draining_server_is_unready_and_serves() {
    let (server, token) = start_draining(LONG_DRAIN);
    server.signal(Signal::TERM);
    until("the server is draining", || server.log().contains("is draining"));
    // Each of these is a new connection: clients are told not to keep the old one.
    let answer = server.stranger().get(READY).expect(503);
    assert_eq!(answer.body["status"], "the server is stopping");
    assert_eq!(answer.header("connection"), Some("close"));
    server.client(&token).post(PRODUCTS, product_named("Sold while draining")).expect(201);
    assert_eq!(server.client(&token).find("sold draining").len(), 1);
}

#[test]
fn a_server_stops_when_the_drain_period_ends() {
    let (server, _) = start_draining(Duration::from_secs(1));
    server.signal(Signal::TERM);
    until("the listener closes", || !is_listening(&server));
    assert!(server.log().contains("is draining"), "{}", server.log());
    assert_eq!(server.wait().code(), Some(0));
}

#[test]
fn a_second_signal_or_an_interrupt_ends_the_drain_period() {
    for (first, second) in [(Signal::TERM, Some(Signal::TERM)), (Signal::INT, None)] {
        let (server, token) = start_draining(LONG_DRAIN);
        server.signal(first);
        if let Some(second) = second {
            until("the server is draining", || server.log().contains("is draining"));
            assert_eq!(status(&server, &token), 200);
            server.signal(second);
        }
        until("the listener closes", || !is_listening(&server));
        assert_eq!(server.wait().code(), Some(0));
    }
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn the_data_folder_is_for_its_owner_alone() {
    let server = TestServer::start(&[]);
    let shop = server.shop();
    shop.as_role(Role::Editor).create(product_named("Lamp"));
    let folder = server.installation().data().to_owned();
    assert_eq!(mode(&folder), 0o700);
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path) & 0o077, 0, "{}", path.display());
    }
    assert!(!server.log().contains("other users"), "{}", server.log());

    // The mode of a folder that is there already is the operator's business, up to a warning.
    drop(shop);
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
    let server = server.restart(&[]);
    assert_eq!(mode(server.installation().data()), 0o755);
    assert!(server.log().contains("other users"), "{}", server.log());
}

#[test]
fn commands_beside_a_server_of_another_version_leave_its_tables_alone() {
    let folder = TempDir::new().unwrap();
    let data = folder.path().join("data");
    let data_flag = ["--data", data.to_str().unwrap()];
    let command = |arguments: &[&str]| run(&[arguments, &data_flag].concat(), &[]);
    let create = ["token", "create", "--shop", "1", "--role", "ADMIN"];
    printed(command(&create));

    // A running server has the lock; the number of the schema says that it is an older one.
    let lock = File::options().write(true).open(data.join("shopkeeper.lock"));
    let lock = lock.or_else(|_| File::create(data.join("shopkeeper.lock"))).unwrap();
    lock.try_lock().unwrap();
    let database = File::options().read(true).write(true).open(data.join("shopkeeper.db")).unwrap();
    let known = schema_version(&database);
    let older = known - 1;
    database.write_all_at(&older.to_be_bytes(), SCHEMA_VERSION_AT).unwrap();

    let export = ["export", "-", "--shop", "1"];
    let search = ["search", "lamp", "--shop", "1", "--model-kind", "off"];
    for arguments in [&create[..], &["token", "list"], &["token", "revoke", "1"], &export, &search]
    {
        let output = command(arguments);
        assert!(!output.status.success(), "{arguments:?}");
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains("older version"), "{arguments:?}: {said}");
        assert!(said.contains(&format!("version {older}")), "{arguments:?}: {said}");
        assert_eq!(schema_version(&database), older, "{arguments:?}");
    }

    // Beside a server of the same version they work.
    database.write_all_at(&known.to_be_bytes(), SCHEMA_VERSION_AT).unwrap();
    let listed = printed(command(&["token", "list"]));
    assert_eq!(listed.lines().count(), 2, "{listed}");
}

fn schema_version(database: &File) -> u32 {
    let mut found = [0; 4];
    database.read_exact_at(&mut found, SCHEMA_VERSION_AT).unwrap();
    u32::from_be_bytes(found)
}

#[test]
fn commands_beside_nodes_of_another_version_leave_their_tables_alone() {
    let postgres = testkit::postgres();
    let url = postgres.database();
    let (_, name) = url.rsplit_once('/').unwrap();
    let environment = [("SHOPKEEPER_DATABASE_URL", url.as_str())];
    let create = ["token", "create", "--shop", "1", "--role", "ADMIN"];
    printed(run(&create, &environment));
    let version = || postgres.psql(name, "SELECT version FROM schema_version").trim().to_owned();
    let known = version();
    postgres.psql(name, "UPDATE schema_version SET version = version - 1");
    let older = version();
    assert_ne!(older, known);

    let folder = TempDir::new().unwrap();
    let file = folder.path().join("products.jsonl");
    fs::write(&file, "{\"title\": \"Lamp\", \"price\": \"$5\"}\n").unwrap();
    let import = ["import", file.to_str().unwrap(), "--shop", "1"];
    for arguments in [&create[..], &["token", "list"], &import] {
        let output = run(arguments, &environment);
        assert!(!output.status.success(), "{arguments:?}");
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains("older version"), "{arguments:?}: {said}");
        assert_eq!(version(), older, "{arguments:?}");
    }
}
