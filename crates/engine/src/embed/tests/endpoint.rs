//! A real HTTP server with an endpoint like OpenAI's, on this machine, that does what it is told.

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

use crate::embed::{Remote, RemoteSettings, Surroundings};

pub(crate) const DIMS: usize = 6;
pub(crate) const TIMEOUT: Duration = Duration::from_millis(500);
pub(crate) const KEY: &str = "sk-very-secret";
const BATCH: usize = 3;

/// What the server does with one request.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    /// Fails with this status and, if any, this `Retry-After`.
    Fail(u16, Option<u32>),
    /// Answers later than anybody waits.
    Dawdle,
    /// Answers with this body.
    Say(&'static str),
    /// Answers with vectors of this length.
    Dims(usize),
    /// Answers with the vectors in the opposite order.
    Backwards,
}

/// What the server was asked.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) head: String,
    pub(crate) body: Value,
}

/// The server. Without orders it answers as it should.
pub(crate) struct Endpoint {
    pub(crate) address: SocketAddr,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    orders: VecDeque<Act>,
    asked: Vec<Asked>,
}

impl Endpoint {
    pub(crate) fn start() -> Self {
        Self::on(TcpListener::bind("127.0.0.1:0").unwrap())
    }

    /// Starts where nobody answered before.
    pub(crate) fn start_at(address: SocketAddr) -> Self {
        Self::on(TcpListener::bind(address).unwrap())
    }

    fn on(listener: TcpListener) -> Self {
        let address = listener.local_addr().unwrap();
        let state = Arc::<Mutex<State>>::default();
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = Arc::clone(&shared);
                // A client that goes away in the middle is part of the tests.
                thread::spawn(move || serve(stream, &shared).ok());
            }
        });
        Self { address, state }
    }

    /// What to do with the next requests, in order.
    pub(crate) fn order(&self, acts: impl IntoIterator<Item = Act>) {
        self.state.lock().orders.extend(acts);
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.state.lock().asked.clone()
    }

    pub(crate) fn embedder(&self) -> Remote {
        remote(self.address, FakeTime::default().surroundings())
    }
}

/// A client of whatever listens at `address`.
pub(crate) fn remote(address: SocketAddr, surroundings: Surroundings) -> Remote {
    let settings = RemoteSettings {
        url: format!("http://{address}/v1"),
        name: "outside".to_owned(),
        api_key: Some(KEY.to_owned()),
        dims: DIMS,
        timeout: TIMEOUT,
        batch: BATCH,
    };
    Remote::new(settings, surroundings).unwrap()
}

/// Time that passes only when somebody waits.
#[derive(Clone, Default)]
pub(crate) struct FakeTime {
    passed: Arc<Mutex<Duration>>,
}

impl FakeTime {
    pub(crate) fn pass(&self, time: Duration) {
        *self.passed.lock() += time;
    }

    pub(crate) fn passed(&self) -> Duration {
        *self.passed.lock()
    }

    pub(crate) fn surroundings(&self) -> Surroundings {
        let start = Instant::now();
        let (now, pause) = (self.clone(), self.clone());
        Surroundings {
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
            state.asked.push(Asked { head, body: body.clone() });
            state.orders.pop_front()
        };
        let (status, extra, answer) = match act {
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
        let length = answer.len();
        let head = format!("HTTP/1.1 {status} X\r\ncontent-length: {length}\r\n{extra}\r\n");
        (&stream).write_all((head + &answer).as_bytes())?;
    }
}

/// A vector for each text, made of its bytes.
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
