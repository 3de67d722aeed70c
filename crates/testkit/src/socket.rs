//! A raw TCP connection, for requests that an HTTP library would not send.

use std::{
    collections::BTreeMap,
    io::{ErrorKind, Read, Write},
    net::{TcpStream, ToSocketAddrs},
    time::Duration,
};

use serde_json::Value;

use crate::{Server, TIMEOUT};

/// A connection that sends exactly the given bytes.
pub struct Socket {
    stream: TcpStream,
    /// Bytes received and not yet consumed.
    received: Vec<u8>,
}

/// A parsed answer.
#[derive(Debug)]
pub struct RawAnswer {
    /// The status code.
    pub status: u16,
    /// The headers, with lower-case names.
    pub headers: BTreeMap<String, String>,
    /// The body, or `null` if it is not JSON.
    pub body: Value,
}

impl Socket {
    /// Connects to a server.
    pub fn connect(server: &Server) -> Self {
        Self::connect_to(server.address())
    }

    /// Connects to the admin listener of a server.
    pub fn connect_to_admin(server: &Server) -> Self {
        let url = server.admin_url();
        Self::connect_to(url.strip_prefix("http://").unwrap())
    }

    fn connect_to(address: impl ToSocketAddrs) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(TIMEOUT)).unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream, received: Vec::new() }
    }

    /// Sends these bytes and nothing else.
    pub fn send(&mut self, bytes: impl AsRef<[u8]>) -> &mut Self {
        self.stream.write_all(bytes.as_ref()).unwrap();
        self
    }

    /// Sends the head of a request, with the headers that every request has.
    pub fn head(&mut self, line: &str, token: &str, headers: &[&str]) -> &mut Self {
        let more: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
        self.send(format!(
            "{line} HTTP/1.1\r\nHost: shop\r\nAuthorization: Bearer {token}\r\n\
             Content-Type: application/json\r\n{more}\r\n"
        ))
    }

    /// Sends a request and reads its answer; `None` if the server closes the connection instead.
    pub fn exchange(&mut self, request: &str) -> Option<RawAnswer> {
        self.stream.write_all(request.as_bytes()).ok()?;
        self.try_answer()
    }

    /// Reads the next answer, which must have a `Content-Length` or no body.
    #[track_caller]
    pub fn answer(&mut self) -> RawAnswer {
        let answer = self.try_answer();
        answer.unwrap_or_else(|| panic!("closed without an answer: {:?}", self.received))
    }

    fn try_answer(&mut self) -> Option<RawAnswer> {
        let end = loop {
            if let Some(end) = find(&self.received, b"\r\n\r\n") {
                break end;
            }
            if self.receive() == 0 {
                return None;
            }
        };
        let head = String::from_utf8(self.received.drain(..end + 4).collect()).unwrap();
        let mut lines = head.trim_end().split("\r\n");
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let headers: BTreeMap<_, _> = lines
            .map(|line| line.split_once(": ").unwrap())
            .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
            .collect();
        let length = headers.get("content-length").map_or(0, |length| length.parse().unwrap());
        while self.received.len() < length {
            assert!(self.receive() > 0, "closed within an answer");
        }
        let body: Vec<u8> = self.received.drain(..length).collect();
        let body = serde_json::from_slice(&body).unwrap_or_default();
        Some(RawAnswer { status, headers, body })
    }

    /// Reads until the server closes the connection.
    pub fn rest(&mut self) -> Vec<u8> {
        while self.receive() > 0 {}
        std::mem::take(&mut self.received)
    }

    /// Whether nothing arrives for a while.
    pub fn is_silent_for(&mut self, time: Duration) -> bool {
        self.stream.set_read_timeout(Some(time)).unwrap();
        let silent = match self.stream.peek(&mut [0]) {
            Ok(_) => false,
            Err(error) => {
                assert!(matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut));
                true
            }
        };
        self.stream.set_read_timeout(Some(TIMEOUT)).unwrap();
        silent
    }

    fn receive(&mut self) -> usize {
        let mut buffer = [0; 4096];
        let count = match self.stream.read(&mut buffer) {
            Ok(count) => count,
            // The server closed the connection with unread data.
            Err(error) if error.kind() == ErrorKind::ConnectionReset => 0,
            Err(error) => panic!("{error}"),
        };
        self.received.extend(&buffer[..count]);
        count
    }
}

impl RawAnswer {
    /// The answer, which must be this problem.
    #[track_caller]
    pub fn refused(self, status: u16, code: &str) -> Self {
        assert_eq!(self.status, status, "{self:?}");
        assert_eq!(self.body["code"], code, "{self:?}");
        assert_eq!(self.headers["content-type"], "application/problem+json");
        assert_eq!(self.headers["x-request-id"], self.body["request_id"].as_str().unwrap());
        assert_eq!(self.headers["x-content-type-options"], "nosniff");
        self
    }
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}
