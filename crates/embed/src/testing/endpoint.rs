//! A real HTTP server on this machine with an endpoint like OpenAI's, which misbehaves on command.

use std::{
    collections::VecDeque,
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::{Environment, Remote, RemoteSettings};

pub const DIMS: usize = 6;
pub const TIMEOUT: Duration = Duration::from_millis(500);
pub const KEY: &str = "sk-very-secret";
const BATCH: usize = 3;

/// How the server handles one request.
#[derive(Clone, Debug)]
pub enum Act {
    /// Responds with this status and, if given, this `Retry-After`.
    Fail(u16, Option<u32>),
    /// Responds after the client's timeout.
    Dawdle,
    /// Responds with this body.
    Say(&'static str),
    /// Responds with vectors of this dimension.
    Dims(usize),
    /// Responds with the vectors in reverse order.
    Backwards,
}

/// A request that the server received.
#[derive(Clone, Debug)]
pub struct Received {
    pub head: String,
    pub body: Value,
}

/// The server. Without commands it responds correctly.
pub struct Endpoint {
    pub address: SocketAddr,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    orders: VecDeque<Act>,
    received: Vec<Received>,
}

impl Endpoint {
    pub fn start() -> Self {
        Self::on(TcpListener::bind("127.0.0.1:0").unwrap())
    }

    /// Starts at an address where no server was listening before.
    pub fn start_at(address: SocketAddr) -> Self {
        Self::on(TcpListener::bind(address).unwrap())
    }

    fn on(listener: TcpListener) -> Self {
        let address = listener.local_addr().unwrap();
        let state = Arc::<Mutex<State>>::default();
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = Arc::clone(&shared);
                // Clients that disconnect early are part of the tests.
                thread::spawn(move || serve(stream, &shared).ok());
            }
        });
        Self { address, state }
    }

    /// How to handle the next requests, in order.
    pub fn order(&self, acts: impl IntoIterator<Item = Act>) {
        self.state.lock().orders.extend(acts);
    }

    pub fn received(&self) -> Vec<Received> {
        self.state.lock().received.clone()
    }

    pub fn embedder(&self) -> Remote {
        remote(self.address, FakeTime::default().environment())
    }
}

/// A client of the server at `address`.
pub fn remote(address: SocketAddr, environment: Environment) -> Remote {
    let settings = RemoteSettings {
        url: format!("http://{address}/v1"),
        name: "outside".to_owned(),
        api_key: Some(KEY.to_owned()),
        dims: DIMS,
        timeout: TIMEOUT,
        batch: BATCH,
    };
    Remote::new(settings, environment).unwrap()
}

/// A clock that advances only when a client sleeps.
#[derive(Clone, Default)]
pub struct FakeTime {
    passed: Arc<Mutex<Duration>>,
}

impl FakeTime {
    pub fn pass(&self, time: Duration) {
        *self.passed.lock() += time;
    }

    pub fn passed(&self) -> Duration {
        *self.passed.lock()
    }

    pub fn environment(&self) -> Environment {
        let start = Instant::now();
        let (now, pause) = (self.clone(), self.clone());
        Environment {
            now: Arc::new(move || start + now.passed()),
            pause: Arc::new(move |time| pause.pass(time)),
            random: Arc::new(|bytes| bytes.fill(0xff)),
        }
    }
}

fn serve(stream: TcpStream, state: &Mutex<State>) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    loop {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if reader.read_line(&mut head)? == 0 {
                return Ok(());
            }
        }
        let lower = head.to_lowercase();
        let length = lower.split("content-length: ").nth(1).unwrap().split("\r\n").next().unwrap();
        let mut body = vec![0; length.parse().unwrap()];
        reader.read_exact(&mut body)?;
        let body: Value = serde_json::from_slice(&body).unwrap();
        let act = {
            let mut state = state.lock();
            state.received.push(Received { head, body: body.clone() });
            state.orders.pop_front()
        };
        let (status, extra, body_text) = match act {
            Some(Act::Fail(status, wait)) => {
                let extra = wait.map(|wait| format!("retry-after: {wait}\r\n"));
                (status, extra.unwrap_or_default(), "{\"error\": {}}".to_owned())
            }
            Some(Act::Dawdle) => {
                thread::sleep(TIMEOUT * 2);
                return Ok(());
            }
            Some(Act::Say(body)) => (200, String::new(), body.to_owned()),
            Some(Act::Dims(dims)) => (200, String::new(), vectors(&body, dims, false)),
            Some(Act::Backwards) => (200, String::new(), vectors(&body, DIMS, true)),
            None => (200, String::new(), vectors(&body, DIMS, false)),
        };
        let length = body_text.len();
        let head = format!("HTTP/1.1 {status} X\r\ncontent-length: {length}\r\n{extra}\r\n");
        (&stream).write_all((head + &body_text).as_bytes())?;
    }
}

/// A vector for each text, derived from its bytes.
fn vectors(request: &Value, dims: usize, backwards: bool) -> String {
    let texts = request["input"].as_array().unwrap();
    let mut data: Vec<_> = texts
        .iter()
        .enumerate()
        .map(|(index, text)| {
            let mut vector = vec![0.5; dims];
            for (at, byte) in text.as_str().unwrap().bytes().enumerate() {
                vector[at % dims] += f32::from(byte) * (at + 1) as f32;
            }
            json!({ "object": "embedding", "index": index, "embedding": vector })
        })
        .collect();
    if backwards {
        data.reverse();
    }
    json!({ "object": "list", "data": data, "usage": {} }).to_string()
}
