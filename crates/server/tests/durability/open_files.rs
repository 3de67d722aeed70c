//! A low soft limit of open files does not keep the server from accepting its connections.

use std::net::TcpStream;

use testkit::{Installation, Role, Server};

use crate::NO_MODEL;

#[test]
fn more_connections_than_the_soft_limit_of_open_files_are_accepted() {
    let store = Installation::temporary();
    let token = store.token(1, Role::Viewer);
    let limit = ["sh", "-c", "ulimit -S -n 64 && exec \"$0\" \"$@\""];
    let serve = [&["serve", "--listen", "127.0.0.1:0"], &NO_MODEL[..]].concat();
    let server = Server::start(&mut store.wrapped(&limit, &serve));
    let idle: Vec<_> = (0..200).map(|_| TcpStream::connect(server.address()).unwrap()).collect();
    assert_eq!(server.client(&token).list_all().1, 0);
    drop(idle);
}
