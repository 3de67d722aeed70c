//! A TCP proxy that fails like a network: it stalls without closing connections, cuts them at a
//! commit, and can encrypt the client's side.

use std::{
    io,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    runtime::{Builder, Runtime},
    sync::watch,
};
use tokio_rustls::TlsAcceptor;

use crate::Certificate;

/// The message with which a PostgreSQL client commits. The client has waited for all answers before,
/// so it arrives alone.
const COMMIT: &[u8] = b"Q\0\0\0\x0bCOMMIT\0";

/// Where a connection is cut when its client commits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CutAt {
    /// The server never receives the commit.
    BeforeCommit,
    /// The server has committed; its answer is lost.
    AfterCommit,
}

/// A proxy to a port of this machine.
pub struct Proxy {
    port: u16,
    state: watch::Sender<State>,
    _runtime: Runtime,
}

/// What the proxy does to the data.
#[derive(Clone, Copy, Default)]
struct State {
    is_stalled: bool,
    cut: Option<CutAt>,
}

impl Proxy {
    /// A proxy to this port.
    pub fn to(port: u16) -> Self {
        Self::new(port, None)
    }

    /// A proxy to a PostgreSQL on this port that accepts TLS from clients as PostgreSQL does.
    pub fn encrypted(port: u16, certificate: &Certificate) -> Self {
        Self::new(port, Some(certificate.acceptor()))
    }

    fn new(target: u16, encryption: Option<TlsAcceptor>) -> Self {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let port = listener.local_addr().unwrap().port();
        let (state, watched) = watch::channel(State::default());
        let encryption = encryption.map(Arc::new);
        runtime.spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let (watched, encryption) = (watched.clone(), encryption.clone());
                // The client notices the end of its connection.
                tokio::spawn(async move {
                    let _ = serve(client, target, watched, encryption.as_deref()).await;
                });
            }
        });
        Self { port, state, _runtime: runtime }
    }

    /// The port to connect to.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Stops forwarding, without closing any connection.
    pub fn stall(&self) {
        self.state.send_modify(|state| state.is_stalled = true);
    }

    /// Forwards again, starting with what has arrived meanwhile.
    pub fn resume(&self) {
        self.state.send_modify(|state| state.is_stalled = false);
    }

    /// Cuts every connection that commits, from now on; `None` ends it.
    pub fn cut_commits(&self, cut: Option<CutAt>) {
        self.state.send_modify(|state| state.cut = cut);
    }
}

async fn serve(
    mut client: TcpStream,
    target: u16,
    watched: watch::Receiver<State>,
    encryption: Option<&TlsAcceptor>,
) -> io::Result<()> {
    let server = TcpStream::connect(SocketAddr::from(([127, 0, 0, 1], target))).await?;
    match encryption {
        None => connect(client, server, watched).await,
        Some(acceptor) => {
            // The request for encryption: eight bytes, answered with one.
            client.read_exact(&mut [0; 8]).await?;
            client.write_all(b"S").await?;
            connect(acceptor.accept(client).await?, server, watched).await
        }
    }
}

async fn connect(
    client: impl AsyncRead + AsyncWrite,
    server: TcpStream,
    watched: watch::Receiver<State>,
) -> io::Result<()> {
    let (client_reader, client_writer) = tokio::io::split(client);
    let (server_reader, server_writer) = server.into_split();
    let is_cut = AtomicBool::new(false);
    tokio::try_join!(
        forward(client_reader, server_writer, watched.clone(), |data, state| match state.cut {
            Some(cut) if data == COMMIT => {
                is_cut.store(true, Ordering::Release);
                cut == CutAt::AfterCommit
            }
            _ => true,
        }),
        forward(server_reader, client_writer, watched, |_, _| !is_cut.load(Ordering::Acquire))
    )?;
    Ok(())
}

/// Forwards data until `may_pass` refuses some, which cuts the connection.
async fn forward(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    mut watched: watch::Receiver<State>,
    may_pass: impl Fn(&[u8], State) -> bool,
) -> io::Result<()> {
    let mut buffer = vec![0; 16 << 10];
    loop {
        let length = from.read(&mut buffer).await?;
        // The proxy may have been dropped.
        let _ = watched.wait_for(|state| !state.is_stalled).await;
        if length == 0 {
            return to.shutdown().await;
        }
        let state = *watched.borrow();
        if !may_pass(&buffer[..length], state) {
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        to.write_all(&buffer[..length]).await?;
        to.flush().await?;
    }
}
