//! Logs to standard error, and traces to an OpenTelemetry collector.
//!
//! Neither blocks the service: traces are exported by a thread of their own from a bounded queue, and
//! dropped if the queue is full or the collector is unavailable.

mod log;
mod trace_context;
mod traces;

use std::io::{self, IsTerminal};

use opentelemetry_otlp::ExporterBuildError;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing_subscriber::Registry;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::config::{Log, Telemetry};

pub use trace_context::continue_trace;
pub use traces::FLUSH_TIME;

/// Logs and traces could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum TelemetryError {
    /// The log level is invalid.
    #[error("log.level is not a level or a list of them by target")]
    Level(#[source] tracing_subscriber::filter::ParseError),
    /// The exporter of traces could not be built.
    #[error("cannot set up the export of traces")]
    Exporter(#[source] ExporterBuildError),
    /// They are already set up.
    #[error("logs are already set up in this process")]
    AlreadySet(#[source] tracing_subscriber::util::TryInitError),
}

/// Keeps the export of traces running. When dropped, it exports the queue, for at most
/// [`FLUSH_TIME`].
///
/// Keep it until the service has stopped, and drop it outside async code.
#[derive(Debug)]
#[must_use = "traces stop when it is dropped"]
pub struct TelemetryGuard {
    traces: Option<SdkTracerProvider>,
}

impl Drop for TelemetryGuard {
    fn drop(&mut self) {
        if let Some(Err(error)) =
            self.traces.take().map(|traces| traces.shutdown_with_timeout(FLUSH_TIME))
        {
            tracing::warn!(%error, "the last traces were not exported");
        }
    }
}

/// Sets up logs and traces for the whole process.
///
/// # Errors
/// The settings are invalid, or logs are already set up. An unavailable collector is no error.
pub fn init(log: &Log, telemetry: &Telemetry) -> Result<TelemetryGuard, TelemetryError> {
    let (subscriber, guard) = subscriber(log, telemetry, io::stderr, io::stderr().is_terminal())?;
    subscriber.try_init().map_err(TelemetryError::AlreadySet)?;
    Ok(guard)
}

/// The subscriber that [`init`] installs, writing log lines to `writer`.
fn subscriber<W>(
    log: &Log,
    telemetry: &Telemetry,
    writer: W,
    terminal: bool,
) -> Result<(impl tracing::Subscriber + Send + Sync + use<W>, TelemetryGuard), TelemetryError>
where
    W: for<'w> MakeWriter<'w> + Send + Sync + 'static,
{
    let lines = log::layer(log, writer, terminal).map_err(TelemetryError::Level)?;
    let traces = traces::provider(telemetry).map_err(TelemetryError::Exporter)?;
    let spans = traces.as_ref().map(traces::layer);
    Ok((Registry::default().with(lines).with(spans), TelemetryGuard { traces }))
}

#[cfg(test)]
mod tests {
    use std::{
        io::{Read, Write},
        net::{SocketAddr, TcpListener},
        sync::{Arc, Mutex, mpsc},
        time::Duration,
    };

    use super::*;
    use crate::config::{Config, LogFormat};

    /// Ends a test that hangs: far above what anything takes that waits for no collector.
    const PATIENCE: Duration = Duration::from_secs(60);

    /// Runs `work` under the subscriber and returns the log.
    fn logged(log: &Log, telemetry: &Telemetry, work: impl FnOnce()) -> String {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let writer = {
            let lines = Arc::clone(&lines);
            move || Lines(Arc::clone(&lines))
        };
        let (subscriber, guard) = subscriber(log, telemetry, writer, false).unwrap();
        tracing::subscriber::with_default(subscriber, work);
        drop(guard);
        String::from_utf8(lines.lock().unwrap().clone()).unwrap()
    }

    struct Lines(Arc<Mutex<Vec<u8>>>);

    impl Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn log(format: LogFormat, level: &str) -> Log {
        Log { format, level: level.to_owned() }
    }

    fn sending_to(address: SocketAddr) -> Telemetry {
        Telemetry {
            otlp_endpoint: Some(format!("http://{address}")),
            service_name: "corner shop".to_owned(),
            sample_ratio: 1.0,
        }
    }

    fn some_work() {
        let _span = tracing::info_span!("restock", request_id = "r-17").entered();
        tracing::debug!("counting");
        tracing::info!(products = 3, "restocked");
        tracing::warn!("shelf is full");
    }

    #[test]
    fn text_lines_carry_fields_and_no_colours() {
        let text = logged(&log(LogFormat::Text, "info"), &Config::default().telemetry, some_work);
        assert_eq!(text.lines().count(), 2, "{text}");
        assert!(text.contains("restock{request_id=\"r-17\"}"), "{text}");
        assert!(text.contains("restocked products=3"), "{text}");
        assert!(!text.contains('\u{1b}'), "{text}");
    }

    #[test]
    fn json_lines_are_objects_with_their_spans() {
        let text = logged(&log(LogFormat::Json, "info"), &Config::default().telemetry, some_work);
        let first: serde_json::Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
        assert_eq!(first["level"], "INFO");
        assert_eq!(first["message"], "restocked");
        assert_eq!(first["products"], 3);
        assert_eq!(first["spans"][0]["request_id"], "r-17");
    }

    #[test]
    fn the_level_decides_what_is_written() {
        let lines = |level| {
            logged(&log(LogFormat::Text, level), &Config::default().telemetry, some_work)
                .lines()
                .count()
        };
        assert_eq!([lines("off"), lines("warn"), lines("info"), lines("debug")], [0, 1, 2, 3]);
    }

    #[test]
    fn a_bad_level_is_an_error() {
        let found = subscriber(
            &log(LogFormat::Text, "a=b=c"),
            &Config::default().telemetry,
            io::sink,
            false,
        );
        assert!(matches!(found.map(|_| ()), Err(TelemetryError::Level(_))));
    }

    /// A collector that answers one POST and returns its head and body.
    fn collector() -> (SocketAddr, mpsc::Receiver<(String, Vec<u8>)>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (sender, receiver) = mpsc::channel();
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut bytes = Vec::new();
            let head_end = loop {
                if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
                    break end + 4;
                }
                let mut chunk = [0; 4096];
                let read = stream.read(&mut chunk).unwrap();
                bytes.extend_from_slice(&chunk[..read]);
            };
            let head = String::from_utf8(bytes[..head_end].to_vec()).unwrap().to_ascii_lowercase();
            let length =
                head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
            let mut body = bytes.split_off(head_end);
            let missing = length.parse::<usize>().unwrap() - body.len();
            stream.try_clone().unwrap().take(missing as u64).read_to_end(&mut body).unwrap();
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").unwrap();
            sender.send((head, body)).unwrap();
        });
        (address, receiver)
    }

    #[test]
    fn spans_reach_a_collector_whatever_the_log_level() {
        let (address, received) = collector();
        let text = logged(&log(LogFormat::Text, "off"), &sending_to(address), some_work);
        assert_eq!(text, "");
        let (head, body) = received.recv_timeout(PATIENCE).unwrap();
        assert!(head.starts_with("post /v1/traces http/1.1\r\n"), "{head}");
        assert!(head.contains("content-type: application/x-protobuf\r\n"), "{head}");
        for part in ["corner shop", "restock", "request_id", "r-17"] {
            assert!(
                body.windows(part.len()).any(|bytes| bytes == part.as_bytes()),
                "{part} is not in the body"
            );
        }
    }

    #[test]
    fn a_trace_of_the_caller_is_continued() {
        let (address, received) = collector();
        let mut headers = axum::http::HeaderMap::new();
        let trace_id = [
            0x0a_u8, 0xf7, 0x65, 0x19, 0x16, 0xcd, 0x43, 0xdd, 0x84, 0x48, 0xeb, 0x21, 0x1c, 0x80,
            0x31, 0x9c,
        ];
        let traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        headers.insert("traceparent", traceparent.parse().unwrap());
        logged(&log(LogFormat::Text, "info"), &sending_to(address), || {
            let span = tracing::info_span!("request");
            continue_trace(&span, &headers);
            span.in_scope(|| tracing::info!("working"));
        });
        let (_, body) = received.recv_timeout(PATIENCE).unwrap();
        assert!(body.windows(16).any(|bytes| bytes == trace_id));
    }

    /// Records spans of many batches and shuts down, with a collector that never answers.
    #[track_caller]
    fn work_and_end(address: SocketAddr) {
        let (done, is_done) = mpsc::channel();
        std::thread::spawn(move || {
            let (subscriber, guard) =
                subscriber(&log(LogFormat::Text, "off"), &sending_to(address), io::sink, false)
                    .unwrap();
            tracing::subscriber::with_default(subscriber, || (0..10_000).for_each(|_| some_work()));
            done.send("work").unwrap();
            drop(guard);
            done.send("end").unwrap();
        });
        for part in ["work", "end"] {
            assert_eq!(is_done.recv_timeout(PATIENCE), Ok(part));
        }
    }

    #[test]
    fn an_unreachable_collector_does_not_block() {
        work_and_end(TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap());
    }

    #[test]
    fn an_unresponsive_collector_does_not_block() {
        let silent = TcpListener::bind("127.0.0.1:0").unwrap();
        work_and_end(silent.local_addr().unwrap());
    }
}
