//! The rules between the settings of the model.

use std::{
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use super::{
    resolve::Resolver,
    secret::Secret,
    settings::{ModelKind, ModelSettings},
};

/// The configured model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelConfig {
    /// No vectors are made.
    Off,
    /// The model inside the binary, or one of the same format from a folder.
    BuiltIn {
        /// The folder of its files; `None` means the model inside the binary.
        folder: Option<PathBuf>,
        /// Threads that run it; `None` means half of the cores.
        threads: Option<usize>,
    },
    /// An embedding endpoint, over HTTP.
    Http {
        /// The URL before `/embeddings`.
        url: String,
        /// The model's name there.
        name: String,
        /// The bearer token, if the endpoint requires one.
        api_key: Option<Secret>,
        /// The dimension of its vectors.
        dims: usize,
        /// The longest time to wait for an answer.
        timeout: Duration,
        /// Texts per request.
        batch: usize,
    },
}

/// Checks the rules between the settings; `None` if one is broken.
pub(super) fn resolve(
    settings: ModelSettings,
    resolver: &mut Resolver,
    read_file: impl Fn(&Path) -> io::Result<String>,
) -> Option<ModelConfig> {
    match settings.kind {
        ModelKind::Off => {
            refuse_http_settings(&settings, resolver);
            if settings.folder.is_some() {
                resolver.refuse("model.folder", "has no effect without model.kind = \"built-in\"");
            }
            Some(ModelConfig::Off)
        }
        ModelKind::BuiltIn => {
            refuse_http_settings(&settings, resolver);
            let threads = Some(settings.threads).filter(|threads| *threads > 0);
            Some(ModelConfig::BuiltIn { folder: settings.folder, threads })
        }
        ModelKind::Http => {
            if settings.folder.is_some() {
                resolver.refuse("model.folder", "is for the built-in model");
            }
            let api_key = resolver.secret_or_file(
                ("model.api_key", settings.api_key.as_ref()),
                ("model.api_key_file", settings.api_key_file.as_deref()),
                read_file,
            );
            let missing = [
                ("model.url", settings.url.is_none()),
                ("model.name", settings.name.is_none()),
                ("model.dims", settings.dims == 0),
            ];
            for (key, _) in missing.into_iter().filter(|(_, missing)| *missing) {
                resolver.refuse(key, "required by model.kind = \"http\"");
            }
            Some(ModelConfig::Http {
                url: settings.url?,
                name: settings.name?,
                api_key: api_key?.map(|(_, secret)| secret),
                dims: settings.dims,
                timeout: settings.timeout,
                batch: settings.batch,
            })
        }
    }
}

/// Refuses settings of an embedding endpoint, which have no effect on another kind of model.
fn refuse_http_settings(settings: &ModelSettings, resolver: &mut Resolver) {
    let unused = [
        ("model.url", settings.url.is_some()),
        ("model.name", settings.name.is_some()),
        ("model.dims", settings.dims > 0),
        ("model.api_key", settings.api_key.is_some()),
        ("model.api_key_file", settings.api_key_file.is_some()),
    ];
    for (key, _) in unused.into_iter().filter(|(_, set)| *set) {
        resolver.refuse(key, "has no effect without model.kind = \"http\"");
    }
}
