//! A node connects only to a database whose certificate it can verify, unless configured
//! otherwise.

use std::process::Output;

use tempfile::TempDir;
use testkit::{Authority, Node, Proxy, Role, postgres, run_on, token};

fn migrate(url: &str) -> Output {
    run_on(url, &["migrate"])
}

fn is_refused(url: &str, reason: &str) {
    let refused = migrate(url);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success(), "{said}");
    assert!(said.to_lowercase().contains(reason), "{reason}: {said}");
    assert!(!said.contains(postgres().password()), "{said}");
}

#[test]
fn the_certificate_of_a_database_is_verified() {
    let folder = TempDir::new().unwrap();
    let (ours, theirs) = (Authority::new(), Authority::new());
    let (our_file, their_file) = (folder.path().join("ours.pem"), folder.path().join("theirs.pem"));
    ours.write(&our_file);
    theirs.write(&their_file);
    let wire = Proxy::encrypted(postgres().port(), &ours.certify("localhost"));
    let name = postgres().database().rsplit_once('/').unwrap().1.to_owned();
    let at = |host: &str, port: u16, roots: &std::path::Path| {
        let url = postgres().url_at(&format!("{host}:{port}"), &name);
        format!("{url}?sslrootcert={}", roots.display())
    };
    // Who signed it, and for whom.
    is_refused(&at("localhost", wire.port(), &their_file), "certificate");
    is_refused(&at("127.0.0.1", wire.port(), &our_file), "certificate");
    // One that does not encrypt at all, though it is asked to.
    is_refused(&at("localhost", postgres().port(), &our_file), "tls");
    let good = at("localhost", wire.port(), &our_file);
    let migrated = migrate(&good);
    assert!(migrated.status.success(), "{}", String::from_utf8_lossy(&migrated.stderr));
    let node = Node::start(&good, &token(&good, Role::Editor));
    let (id, _) = node.create("lamp");
    assert_eq!(node.find("lamp"), [id]);
}
