//! A low soft limit of open files does not keep the server from accepting its connections.

use std::net::TcpStream;

use crate::server::{Server, issue_token, serve, shopkeeper, without_environment};

#[test]
fn more_connections_than_the_soft_limit_of_open_files_are_accepted() {
    let folder = tempfile::tempdir().unwrap();
    let token = issue_token(folder.path(), "VIEWER");
    let mut command = without_environment("sh");
    let program = shopkeeper().get_program().to_owned();
    command.args(["-c", "ulimit -S -n 64 && exec \"$0\" \"$@\""]).arg(program);
    serve(&mut command, folder.path());
    let server = Server::run(&mut command);
    let idle: Vec<_> = (0..200).map(|_| TcpStream::connect(server.address()).unwrap()).collect();
    assert_eq!(server.client(&token).list().1, 0);
    drop(idle);
}
