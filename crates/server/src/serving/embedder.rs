//! Loads the configured embedding model; the service does not start without it.

use std::{sync::Arc, time::Instant};

use anyhow::Context;
use embed::{BuiltIn, Embedder, Environment, ModelFiles, Remote, RemoteSettings};

use super::random_source;
use crate::config::ModelConfig;

/// The configured embedder; `None` if the model is off. An embedding endpoint is not contacted yet,
/// because it may be unavailable at the moment.
pub(crate) fn embedder(config: &ModelConfig) -> anyhow::Result<Option<Arc<dyn Embedder>>> {
    let started = Instant::now();
    let embedder: Arc<dyn Embedder> = match config {
        ModelConfig::Off => return Ok(None),
        ModelConfig::BuiltIn { folder, threads } => {
            let weights =
                folder.as_deref().map_or_else(|| Ok(ModelFiles::embedded()), ModelFiles::in_folder);
            let threads = threads.unwrap_or_else(half_of_the_cores);
            Arc::new(BuiltIn::new(weights?, threads)?)
        }
        ModelConfig::Http { url, name, api_key, dims, timeout, batch } => {
            let api_key = api_key.as_ref().map(|key| std::str::from_utf8(key.expose()));
            let settings = RemoteSettings {
                url: url.clone(),
                name: name.clone(),
                api_key: api_key
                    .transpose()
                    .context("the model's key is not UTF-8")?
                    .map(str::to_owned),
                dims: *dims,
                timeout: *timeout,
                batch: *batch,
            };
            Arc::new(Remote::new(settings, Environment::real(random_source()))?)
        }
    };
    let elapsed_ms = started.elapsed().as_millis() as u64;
    tracing::info!(model = %embedder.model(), dims = embedder.dims(), elapsed_ms, "the model is loaded");
    Ok(Some(embedder))
}

fn half_of_the_cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from).div_ceil(2)
}
