//! A minimal HTTP/1.1 client with persistent connections: it runs on the same cores as the service
//! it measures.

use std::{net::SocketAddr, sync::Arc};

use anyhow::{Context, bail};
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::{
    Method, Request, StatusCode,
    client::conn::http1::{self, SendRequest},
    header,
};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

/// The address of a service and a token for it.
#[derive(Clone, Debug)]
pub struct Target {
    /// Its address.
    pub address: SocketAddr,
    /// A token of the shop.
    pub token: Arc<str>,
}

/// One open connection.
pub struct Connection {
    sender: SendRequest<Full<Bytes>>,
    host: String,
    authorization: String,
}

/// The answer of the service.
pub struct Answer {
    /// Its status.
    pub status: StatusCode,
    /// Its body.
    pub body: Bytes,
}

impl Connection {
    /// Opens a connection.
    pub async fn open(target: &Target) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(target.address).await?;
        stream.set_nodelay(true)?;
        let (sender, driver) = http1::handshake(TokioIo::new(stream)).await?;
        // Ends with the connection; the pending request gets its error.
        tokio::spawn(driver);
        Ok(Self {
            sender,
            host: target.address.to_string(),
            authorization: format!("Bearer {}", target.token),
        })
    }

    /// Sends `POST` with a JSON body and reads the answer.
    pub async fn post(&mut self, path: &str, body: Bytes) -> anyhow::Result<Answer> {
        self.send(Method::POST, path, body).await
    }

    /// Sends `GET` and reads the answer.
    pub async fn get(&mut self, path: &str) -> anyhow::Result<Answer> {
        self.send(Method::GET, path, Bytes::new()).await
    }

    async fn send(&mut self, method: Method, path: &str, body: Bytes) -> anyhow::Result<Answer> {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header(header::HOST, &self.host)
            .header(header::AUTHORIZATION, &self.authorization)
            .header(header::CONTENT_TYPE, "application/json")
            .body(Full::new(body))?;
        self.sender.ready().await?;
        let response = self.sender.send_request(request).await?;
        let status = response.status();
        let body = response.into_body().collect().await?.to_bytes();
        Ok(Answer { status, body })
    }
}

impl Answer {
    /// The body, if the status is the expected one.
    pub fn expect(self, status: StatusCode) -> anyhow::Result<Bytes> {
        if self.status != status {
            bail!("{} instead of {status}: {}", self.status, String::from_utf8_lossy(&self.body));
        }
        Ok(self.body)
    }

    /// The body as JSON, if the status is the expected one.
    pub fn json(self, status: StatusCode) -> anyhow::Result<serde_json::Value> {
        serde_json::from_slice(&self.expect(status)?).context("the answer is not JSON")
    }
}
