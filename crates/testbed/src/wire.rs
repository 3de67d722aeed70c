//! How is a server reached over a network that fails? Through a wire that can go silent without
//! anybody hanging up, and that can be encrypted on the client's side.

use std::{io, net::SocketAddr, sync::Arc};

use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    runtime::{Builder, Runtime},
    sync::watch,
};
use tokio_rustls::TlsAcceptor;

use crate::Certified;

/// A way to a port of this machine, through another port.
pub struct Wire {
    port: u16,
    is_silent: watch::Sender<bool>,
    _runtime: Runtime,
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
        let (is_silent, heard) = watch::channel(false);
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
        Self { port, is_silent, _runtime: runtime }
    }

    /// The port to connect to.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// From now on nothing comes through, and nobody is told.
    pub fn fall_silent(&self) {
        self.is_silent.send_replace(true);
    }

    /// What was said meanwhile comes through, and all that is said from now on.
    pub fn come_back(&self) {
        self.is_silent.send_replace(false);
    }
}

async fn serve(
    mut client: TcpStream,
    target: u16,
    heard: watch::Receiver<bool>,
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
    heard: watch::Receiver<bool>,
) -> io::Result<()> {
    let (client_says, client_hears) = tokio::io::split(client);
    let (server_says, server_hears) = server.into_split();
    tokio::try_join!(
        carry(client_says, server_hears, heard.clone()),
        carry(server_says, client_hears, heard)
    )?;
    Ok(())
}

async fn carry(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    mut heard: watch::Receiver<bool>,
) -> io::Result<()> {
    let mut said = vec![0; 16 << 10];
    loop {
        let length = from.read(&mut said).await?;
        // The wire's owner may be gone.
        let _ = heard.wait_for(|is_silent| !is_silent).await;
        if length == 0 {
            return to.shutdown().await;
        }
        to.write_all(&said[..length]).await?;
        to.flush().await?;
    }
}
