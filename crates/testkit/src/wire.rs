//! How is a server reached over a network that fails? Through a wire that can go silent without
//! anybody hanging up, that can be cut in the middle of a commit, and that can be encrypted on the
//! client's side.

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

use crate::Certified;

/// What a client of PostgreSQL sends to commit. It has waited for all answers before, so nothing
/// else is on the way with it.
const COMMIT: &[u8] = b"Q\0\0\0\x0bCOMMIT\0";

/// Where a connection is cut when its client commits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// The server never hears of it.
    BeforeTheCommit,
    /// The server has committed, and its answer is lost.
    AfterTheCommit,
}

/// A way to a port of this machine, through another port.
pub struct Wire {
    port: u16,
    state: watch::Sender<State>,
    _runtime: Runtime,
}

/// What happens to what is said.
#[derive(Clone, Copy, Default)]
struct State {
    is_silent: bool,
    cut: Option<Cut>,
}

impl Wire {
    /// A wire to this port.
    pub fn to(port: u16) -> Self {
        Self::new(port, None)
    }

    /// A wire to a PostgreSQL on this port, whose client's end is encrypted as PostgreSQL's own
    /// would be.
    pub fn encrypted(port: u16, certified: &Certified) -> Self {
        Self::new(port, Some(certified.acceptor()))
    }

    fn new(target: u16, encryption: Option<TlsAcceptor>) -> Self {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let port = listener.local_addr().unwrap().port();
        let (state, heard) = watch::channel(State::default());
        let encryption = encryption.map(Arc::new);
        runtime.spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let (heard, encryption) = (heard.clone(), encryption.clone());
                // Whoever is cut off sees it at its own end.
                tokio::spawn(async move {
                    let _ = serve(client, target, heard, encryption.as_deref()).await;
                });
            }
        });
        Self { port, state, _runtime: runtime }
    }

    /// The port to connect to.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// From now on nothing comes through, and nobody is told.
    pub fn fall_silent(&self) {
        self.state.send_modify(|state| state.is_silent = true);
    }

    /// What was said meanwhile comes through, and all that is said from now on.
    pub fn come_back(&self) {
        self.state.send_modify(|state| state.is_silent = false);
    }

    /// From now on every connection that commits is cut there; `None` ends it.
    pub fn cut_commits(&self, cut: Option<Cut>) {
        self.state.send_modify(|state| state.cut = cut);
    }
}

async fn serve(
    mut client: TcpStream,
    target: u16,
    heard: watch::Receiver<State>,
    encryption: Option<&TlsAcceptor>,
) -> io::Result<()> {
    let server = TcpStream::connect(SocketAddr::from(([127, 0, 0, 1], target))).await?;
    match encryption {
        None => join(client, server, heard).await,
        Some(acceptor) => {
            // The request for encryption: eight bytes, answered with one.
            client.read_exact(&mut [0; 8]).await?;
            client.write_all(b"S").await?;
            join(acceptor.accept(client).await?, server, heard).await
        }
    }
}

async fn join(
    client: impl AsyncRead + AsyncWrite,
    server: TcpStream,
    heard: watch::Receiver<State>,
) -> io::Result<()> {
    let (client_says, client_hears) = tokio::io::split(client);
    let (server_says, server_hears) = server.into_split();
    let is_cut = AtomicBool::new(false);
    tokio::try_join!(
        carry(client_says, server_hears, heard.clone(), |said, state| match state.cut {
            Some(cut) if said == COMMIT => {
                is_cut.store(true, Ordering::Release);
                cut == Cut::AfterTheCommit
            }
            _ => true,
        }),
        carry(server_says, client_hears, heard, |_, _| !is_cut.load(Ordering::Acquire))
    )?;
    Ok(())
}

/// Carries what is said for as long as it `may_pass`.
async fn carry(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    mut heard: watch::Receiver<State>,
    may_pass: impl Fn(&[u8], State) -> bool,
) -> io::Result<()> {
    let mut said = vec![0; 16 << 10];
    loop {
        let length = from.read(&mut said).await?;
        // The wire's owner may be gone.
        let _ = heard.wait_for(|state| !state.is_silent).await;
        if length == 0 {
            return to.shutdown().await;
        }
        let state = *heard.borrow();
        if !may_pass(&said[..length], state) {
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        to.write_all(&said[..length]).await?;
        to.flush().await?;
    }
}
