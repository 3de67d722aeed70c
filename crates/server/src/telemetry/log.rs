//! The log layer: text or JSON lines, filtered by level.

use tracing::Subscriber;
use tracing_subscriber::filter::ParseError;
use tracing_subscriber::fmt::{self, MakeWriter};
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::{EnvFilter, Layer};

use crate::config::{Log, LogFormat};

/// Silences the MCP SDK, which logs every message; the request log covers them.
const MCP_FILTER: &str = "rmcp=error";

/// Writes the lines that pass the configured level; in colour on a terminal only.
pub(super) fn layer<S, W>(
    log: &Log,
    writer: W,
    terminal: bool,
) -> Result<Box<dyn Layer<S> + Send + Sync>, ParseError>
where
    S: Subscriber + for<'s> LookupSpan<'s>,
    W: for<'w> MakeWriter<'w> + Send + Sync + 'static,
{
    // Later directives win, so the configuration can override the filter.
    let filter = EnvFilter::builder().parse(format!("{MCP_FILTER},{}", log.level))?;
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
