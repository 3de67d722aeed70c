//! Do the settings for the model go together, and which model do they ask for?

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::kinds::{Kind, Shown};
use super::raw::Raw;
use super::resolve::Resolver;
use super::secret::{Secret, without_final_line_break};
use super::settings::ModelSettings;

/// Who turns texts into vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelKind {
    /// Nobody.
    Off,
    /// The model inside this program.
    BuiltIn,
    /// Somebody else's, asked over HTTP.
    Http,
}

/// The model asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelConfig {
    /// No vectors are made.
    Off,
    /// The model inside this program, or one like it from a folder.
    BuiltIn {
        /// Where the files are, if not inside this program.
        folder: Option<PathBuf>,
        /// Threads that run it; `None` means half of the cores.
        threads: Option<usize>,
    },
    /// Somebody else's, asked over HTTP.
    Http {
        /// The address before `/embeddings`.
        url: String,
        /// The model's name there.
        name: String,
        /// The key to show, if any.
        api_key: Option<Secret>,
        /// How many numbers its vectors have.
        dims: usize,
        /// How long an answer is waited for.
        timeout: Duration,
        /// Texts in one request.
        batch: usize,
    },
}

/// Checks the rules between the settings; `None` where something was refused.
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
            let api_key = api_key(&settings, resolver, read_file);
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
                api_key: api_key?,
                dims: settings.dims,
                timeout: settings.timeout,
                batch: settings.batch,
            })
        }
    }
}

/// Settings of an outside model have no effect on another, which nobody who set them wants.
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

/// The key, from where it was put; `None` inside where there is none.
fn api_key(
    settings: &ModelSettings,
    resolver: &mut Resolver,
    read_file: impl Fn(&Path) -> io::Result<String>,
) -> Option<Option<Secret>> {
    match (&settings.api_key, &settings.api_key_file) {
        (Some(_), Some(_)) => {
            let why = "does not go with model.api_key: leave one of them out";
            resolver.refuse("model.api_key_file", why);
            None
        }
        (key, None) => Some(key.clone()),
        (None, Some(path)) => match read_file(path) {
            Ok(text) => Some(Some(Secret::new(without_final_line_break(&text).to_owned()))),
            Err(error) => {
                let why = format!("cannot read {}: {error}", path.display());
                resolver.refuse("model.api_key_file", why);
                None
            }
        },
    }
}

/// The address of an HTTP service, with TLS or without.
#[derive(Debug, Clone, Copy)]
pub(super) struct ServiceUrl;

impl Kind for ServiceUrl {
    type Value = String;

    fn expects(&self) -> String {
        "an address such as https://api.example.com/v1".to_owned()
    }

    fn read(&self, raw: &Raw) -> Result<String, String> {
        let text = raw.text().unwrap_or_default().trim_end_matches('/');
        let good = |url: &url::Url| {
            matches!(url.scheme(), "http" | "https")
                && url.has_host()
                && url.username().is_empty()
                && url.password().is_none()
                && url.query().is_none()
                && url.fragment().is_none()
        };
        let url = url::Url::parse(text).ok().filter(good);
        url.map(|_| text.to_owned()).ok_or_else(|| self.mismatch(raw))
    }

    fn show(&self, value: &String) -> Shown {
        Shown::string(value)
    }
}
