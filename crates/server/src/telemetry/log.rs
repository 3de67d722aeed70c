//! How is a log line written?

use tracing::Subscriber;
use tracing_subscriber::filter::ParseError;
use tracing_subscriber::fmt::{self, MakeWriter};
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::{EnvFilter, Layer};

use crate::config::{Log, LogFormat};

/// The SDK of the Model Context Protocol tells of every message, and warns of every wrong one; the
/// request's own line says as much.
const QUIET: &str = "rmcp=error";

/// Writes the lines that the configured level lets through; colours only on a terminal.
pub(super) fn layer<S, W>(
    log: &Log,
    writer: W,
    terminal: bool,
) -> Result<Box<dyn Layer<S> + Send + Sync>, ParseError>
where
    S: Subscriber + for<'s> LookupSpan<'s>,
    W: for<'w> MakeWriter<'w> + Send + Sync + 'static,
{
    // What the configuration says of the same target comes later, and so holds.
    let filter = EnvFilter::builder().parse(format!("{QUIET},{}", log.level))?;
    let lines = fmt::layer().with_writer(writer);
    Ok(match log.format {
        LogFormat::Text if terminal => lines.with_filter(filter).boxed(),
        LogFormat::Text => lines.with_ansi(false).with_filter(filter).boxed(),
        LogFormat::Json => {
            let objects =
                lines.json().flatten_event(true).with_current_span(false).with_span_list(true);
            objects.with_filter(filter).boxed()
        }
    })
}
