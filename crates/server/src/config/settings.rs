//! The table of all settings: key, type, default, range and a sentence each.
//!
//! Flags, environment variables, file keys, the report, the reference and the typed structs are
//! derived from it.

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use super::{
    kinds::{
        ADDRESS, AutoOr, Bytes, Count, DIRECTIVES, HTTP_URL, ListOf, OneOf, Optional, PATH, Ratio,
        SERVICE_URL, SecretText, Switch, TEXT, Time, WEB_ORIGIN,
    },
    secret::Secret,
    section::{Section, section},
};

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;
const GIB: usize = 1 << 30;
const TIB: usize = 1 << 40;

/// The smallest buffer that hyper reads a request head into.
const SMALLEST_HEAD_BYTES: usize = 8 * KIB;
/// The longest URI that the HTTP library supports.
const LONGEST_URI_BYTES: usize = 63 * KIB;
/// Half of it holds the largest page of products.
const SMALLEST_RESPONSE_MEMORY: usize = 64 * MIB;
/// An upper bound of concurrent requests, connections and queue entries.
const MAX_CONCURRENT: usize = 1_000_000;
/// The longest any part of a request may take.
const LONGEST_REQUEST: Duration = Duration::from_secs(3600);
/// The shortest time limit that a healthy client can meet.
const SHORTEST_REQUEST: Duration = Duration::from_millis(100);

const REQUEST_TIME: Time = Time { min: SHORTEST_REQUEST, max: LONGEST_REQUEST };
const CONCURRENT: Count<usize> = Count { min: 1, max: MAX_CONCURRENT };
const CONCURRENT_OR_DEFAULT: Count<usize> = Count { min: 0, max: MAX_CONCURRENT };
const PER_SECOND: Count<u32> = Count { min: 0, max: 1_000_000 };

/// How log lines are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line, for machines.
    Json,
}

/// Where vectors come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ModelKind {
    /// There are no vectors.
    Off,
    /// The model inside the binary.
    BuiltIn,
    /// An embedding endpoint, over HTTP.
    Http,
}

/// A signature algorithm the service can check. There is no `none`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JwtAlgorithm {
    /// HMAC with SHA-256 and a shared secret.
    Hs256,
    /// RSA (PKCS #1 v1.5) with SHA-256.
    Rs256,
    /// ECDSA on P-256 with SHA-256.
    Es256,
    /// Ed25519.
    EdDsa,
}

const LOG_FORMATS: OneOf<LogFormat> =
    OneOf(&[("text", LogFormat::Text), ("json", LogFormat::Json)]);

const MODEL_KINDS: OneOf<ModelKind> =
    OneOf(&[("off", ModelKind::Off), ("built-in", ModelKind::BuiltIn), ("http", ModelKind::Http)]);

const JWT_ALGORITHMS: OneOf<JwtAlgorithm> = OneOf(&[
    ("HS256", JwtAlgorithm::Hs256),
    ("RS256", JwtAlgorithm::Rs256),
    ("ES256", JwtAlgorithm::Es256),
    ("EdDSA", JwtAlgorithm::EdDsa),
]);

section! {
    /// The data folder and the addresses of the service.
    pub(super) struct General, title "General", prefix "" {
        /// Folder with everything the service stores; created on the first start.
        data: PathBuf = "shop-data", PATH;
        /// Address and port to listen on; the default accepts connections from this machine only, `0.0.0.0:7700` also from others.
        listen: SocketAddr = "127.0.0.1:7700", ADDRESS;
        /// Address and port of a second listener that serves only `/health/live`, `/health/ready` and `/metrics` and whose connections no other client can exhaust; `listen` serves them too.
        admin_listen: Option<SocketAddr> = "", Optional(ADDRESS);
    }
}

section! {
    /// Limits of a single request and of all requests together.
    pub struct Limits, title "Limits", prefix "limits." {
        /// Largest request body; a larger one gets 413 without being read completely.
        body_bytes: usize = "4MiB", Bytes { min: KIB, max: GIB };
        /// Largest request head: request line and headers together.
        header_bytes: usize = "16KiB", Bytes { min: SMALLEST_HEAD_BYTES, max: MIB };
        /// Longest URI (path and query) of a request; at most `limits.header_bytes`.
        uri_bytes: usize = "8KiB", Bytes { min: 256, max: LONGEST_URI_BYTES };
        /// Longest time a connection may stay idle between two requests; should exceed that of a proxy in front.
        idle_time: Duration = "75s", REQUEST_TIME;
        /// Longest time a client may take to send a request's head before its connection is closed.
        header_read_time: Duration = "10s", REQUEST_TIME;
        /// Longest time a client may take to send a request's body, or may be behind in reading a response at 1 KiB per second.
        body_read_time: Duration = "30s", REQUEST_TIME;
        /// Longest time from a request's head to its response.
        request_time: Duration = "1m", REQUEST_TIME;
        /// Longest time a search may run once it has started; a longer one is ended and gets 503.
        search_time: Duration = "10s", REQUEST_TIME;
        /// Concurrent requests; beyond that a request gets 503; a request whose body is still arriving does not count.
        concurrent_requests: usize = "1024", CONCURRENT;
        /// Concurrent requests of one shop; `0` means half of what others leave of `limits.concurrent_requests`.
        concurrent_requests_per_shop: usize = "0", CONCURRENT_OR_DEFAULT;
        /// Concurrent requests with one token; `0` means a quarter of `limits.concurrent_requests`.
        concurrent_requests_per_token: usize = "0", CONCURRENT_OR_DEFAULT;
        /// Memory for request bodies that are arriving or being processed; one shop gets half of what others leave; beyond that a request gets 503; three bodies of the largest size always fit.
        body_memory: usize = "256MiB", Bytes { min: MIB, max: TIB };
        /// Memory for large responses that clients have not read yet; one shop gets half of what others leave, and an address without a token a quarter of all; beyond that a read gets 503.
        response_memory: usize = "256MiB", Bytes { min: SMALLEST_RESPONSE_MEMORY, max: TIB };
        /// Open connections, half of them for callers that sent a valid token; a further one replaces one whose client does not read, or the one that has been idle for longest; if all are in use, it serves only health probes.
        connections: usize = "4096", CONCURRENT;
        /// Queued writes, half of them for one shop; beyond that a write gets 503.
        write_queue: usize = "2048", CONCURRENT;
        /// Queued searches, half of them for one shop; beyond that a search gets 503; reads of products and lists have an equal queue of their own.
        search_queue: usize = "1024", CONCURRENT;
        /// Time after SIGTERM during which `/health/ready` responds with 503 while requests are still served, so that load balancers stop sending before the server stops listening; SIGINT or a second signal skips it.
        drain_time: Duration = "0s", Time { min: Duration::ZERO, max: LONGEST_REQUEST };
        /// Time that requests in flight get to finish once the server has stopped listening.
        shutdown_time: Duration = "30s", Time { min: Duration::ZERO, max: LONGEST_REQUEST };
    }
}

section! {
    /// Rate limit per token.
    pub(super) struct RateLimitSettings, title "Rate limit", prefix "rate_limit." {
        /// Average number of requests per second that each token may make; `0` means no limit.
        requests_per_second: u32 = "0", PER_SECOND;
        /// Burst size: requests a token may make at once after a pause; `0` means `rate_limit.requests_per_second`.
        burst: u32 = "0", PER_SECOND;
    }
}

section! {
    /// Which web pages may call the service from a browser.
    pub struct Cors, title "CORS", prefix "cors." {
        /// Allowed origins; `*`, alone, allows all; none are allowed by default.
        origins: Vec<String> = "", ListOf(WEB_ORIGIN);
    }
}

section! {
    /// The pages for people: `/`, `/preview` and `/admin`.
    pub struct Pages, title "Pages", prefix "pages." {
        /// Origins from which the pages may load product pictures, besides the server itself; `*`, alone, allows all; other pictures are shown as placeholders.
        image_origins: Vec<String> = "", ListOf(WEB_ORIGIN);
    }
}

section! {
    /// The search indexes held in memory.
    pub struct Index, title "Index", prefix "index." {
        /// Memory for the indexes of all shops; the least recently used ones are evicted first.
        memory_bytes: usize = "4GiB", Bytes { min: 16 * MIB, max: 64 * TIB };
        /// Memory for the query cache, whose entries are valid until the shop changes; `0` disables it.
        query_cache_bytes: usize = "64MiB", Bytes { min: 0, max: TIB }, formerly "answer_bytes";
    }
}

section! {
    /// How products are stored.
    pub struct Store, title "Store", prefix "store." {
        /// Most products that one transaction (group commit) stores.
        group_max_products: usize = "4096", Count { min: 100, max: 100_000 };
        /// How long the response to an `Idempotency-Key` is kept for retries.
        idempotency_time: Duration = "1d", Time { min: Duration::from_secs(60), max: Duration::from_secs(30 * 86_400) };
        /// Change records of each shop that are kept for `GET /api/v1/changes` and for nodes that catch up; `0` means 1,000,000 in a data folder and 10,000 in a database.
        kept_changes: u64 = "0", Count { min: 0, max: 1_000_000_000 };
    }
}

section! {
    /// Quotas of each shop. What would grow a shop beyond them gets 409 `quota_exhausted`; updates that do not grow a product and deletions always work.
    pub struct Quota, title "Quotas", prefix "quota." {
        /// Most products of a shop, hidden ones included; `0` means no limit.
        products: u64 = "0", Count { min: 0, max: 1_000_000_000_000_u64 };
        /// Most bytes of all products of a shop: their texts, prices, media, keys, URLs and attributes as they are stored, without vectors and indexes; `0` means no limit.
        bytes: usize = "0B", Bytes { min: 0, max: 1024 * TIB };
    }
}

section! {
    /// A PostgreSQL database that stores everything in place of the data folder, for any number of nodes.
    pub(super) struct DatabaseSettings, title "Database", prefix "database." {
        /// Connection URL such as `postgres://user:password@host/name`; flags are visible to other users of the machine, so prefer the environment or `database.url_file`.
        url: Option<Secret> = "", Optional(SecretText);
        /// File that contains that URL; a final line break is ignored.
        url_file: Option<PathBuf> = "", Optional(PATH);
        /// Connections for reads, half of them reserved for single products and pages; five more are used for writes, change notifications, tokens (two) and embedding.
        connections: usize = "16", Count { min: 1, max: 1000 };
        /// Longest time to wait for a new connection, or for a free one.
        connect_time: Duration = "5s", REQUEST_TIME;
        /// Longest time that one statement may take.
        statement_time: Duration = "30s", REQUEST_TIME;
        /// Longest time that a write waits for other nodes that write to the same shop.
        lock_time: Duration = "10s", REQUEST_TIME;
        /// Folder for the local replica of the shops in memory, which serves reads while the database is unavailable; defaults to the system's temporary folder.
        scratch: Option<PathBuf> = "", Optional(PATH);
        /// Number of products above which a shop is searched inside the database instead of in the memory of a node; `0` means every shop.
        search_above: usize = "2000000", Count { min: 0, max: 1_000_000_000 };
        /// Whether a node migrates the tables when it starts; with `false`, run `shopkeeper migrate` first.
        migrate: bool = "true", Switch;
    }
}

section! {
    /// The embedding model: the built-in one, or an external endpoint.
    pub(super) struct ModelSettings, title "Model", prefix "model." {
        /// Source of vectors: `built-in`, `http` for an OpenAI-compatible endpoint, or `off` for lexical search only.
        kind: ModelKind = "built-in", MODEL_KINDS;
        /// Folder with another model in the format of the built-in one, which replaces it.
        folder: Option<PathBuf> = "", Optional(PATH);
        /// Threads that may run the built-in model; `0` means half of the cores.
        threads: usize = "0", Count { min: 0, max: 1024 };
        /// Whether products get deep vectors in the background; with `false` they keep their instant vectors.
        background: bool = "true", Switch;
        /// Number of running and queued searches above which queries use the instant encoder instead of the deep one; `0` means always.
        query_budget: usize = "8", Count { min: 0, max: MAX_CONCURRENT };
        /// Base URL of the embedding endpoint, without `/embeddings`; required with `http`.
        url: Option<String> = "", Optional(SERVICE_URL);
        /// Name of the external model; required with `http`.
        name: Option<String> = "", Optional(TEXT);
        /// Dimensions of the external model's vectors; required with `http`.
        dims: usize = "0", Count { min: 0, max: 4096 };
        /// API key for the embedding endpoint, sent as a bearer token; flags are visible to other users of the machine, so prefer `model.api_key_file`.
        api_key: Option<Secret> = "", Optional(SecretText);
        /// File that contains that key; a final line break is ignored.
        api_key_file: Option<PathBuf> = "", Optional(PATH);
        /// Longest time the embedding endpoint may take to respond.
        timeout: Duration = "10s", REQUEST_TIME;
        /// Texts per request to the embedding endpoint.
        batch: usize = "32", Count { min: 1, max: 2048 };
    }
}

section! {
    /// Log output on standard error.
    pub struct Log, title "Log", prefix "log." {
        /// Format of a line: `text` for people, `json` for machines.
        format: LogFormat = "text", LOG_FORMATS;
        /// Which lines are written: a level, or levels per target.
        level: String = "info", DIRECTIVES;
    }
}

section! {
    /// Traces for an OpenTelemetry collector.
    pub struct Telemetry, title "Telemetry", prefix "telemetry." {
        /// Base URL of a collector that accepts OTLP over HTTP; spans are sent to `/v1/traces` below it; none by default.
        otlp_endpoint: Option<String> = "", Optional(HTTP_URL);
        /// Name of the service in the traces.
        service_name: String = "shopkeeper", TEXT;
        /// Share of traces to send, unless the caller has already decided.
        sample_ratio: f64 = "1.0", Ratio;
    }
}

section! {
    /// The endpoint for Prometheus.
    pub struct Metrics, title "Metrics", prefix "metrics." {
        /// Whether `/metrics` needs no token; where it is not public, it requires an `ADMIN` token; `auto` makes it public on `admin_listen`, and on `listen` if that is a loopback address.
        public: Option<bool> = "auto", AutoOr(Switch);
    }
}

section! {
    /// Signed tokens (JWT) of your own identity provider, accepted beside the service's own once `jwt.issuer` is set.
    pub(super) struct JwtSettings, title "JWT", prefix "jwt." {
        /// The `iss` claim that tokens must carry; setting it switches signed tokens on.
        issuer: Option<String> = "", Optional(TEXT);
        /// The `aud` claim that tokens must carry; required with `jwt.issuer`.
        audience: Option<String> = "", Optional(TEXT);
        /// Accepted algorithms; required with `jwt.issuer`; `HS256` cannot be combined with others, and `none` is never accepted.
        algorithms: Vec<JwtAlgorithm> = "", ListOf(JWT_ALGORITHMS);
        /// Shared secret for HS256, at least 32 bytes; flags are visible to other users of the machine, so prefer `jwt.secret_file`.
        secret: Option<Secret> = "", Optional(SecretText);
        /// File that contains the shared secret for HS256; a final line break is ignored, and the file is reloaded when it changes.
        secret_file: Option<PathBuf> = "", Optional(PATH);
        /// JSON Web Key Set with the provider's public keys, for RS256, ES256 and EdDSA; the file is reloaded when it changes.
        jwks_file: Option<PathBuf> = "", Optional(PATH);
        /// How long the last keys stay trusted while `jwt.jwks_file` or `jwt.secret_file` cannot be read or parsed; after that, signed tokens are rejected until it can.
        file_grace: Duration = "5m", Time { min: Duration::ZERO, max: Duration::from_secs(86_400) };
        /// The claim that names the shop.
        shop_claim: String = "shop", TEXT;
        /// The claim that names the role: SHOPPER, VIEWER, EDITOR or ADMIN.
        role_claim: String = "role", TEXT;
        /// How far the provider's clock may be off when `exp` and `nbf` are checked.
        leeway: Duration = "30s", Time { min: Duration::ZERO, max: Duration::from_secs(300) };
    }
}

/// All sections, in the order of the reference and the report.
pub(super) fn sections() -> Vec<Section> {
    vec![
        General::section(),
        Limits::section(),
        RateLimitSettings::section(),
        Cors::section(),
        Pages::section(),
        Index::section(),
        Store::section(),
        Quota::section(),
        DatabaseSettings::section(),
        ModelSettings::section(),
        Log::section(),
        Telemetry::section(),
        Metrics::section(),
        JwtSettings::section(),
    ]
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::config::section::Setting;

    fn settings() -> Vec<Setting> {
        sections().into_iter().flat_map(|section| section.settings).collect()
    }

    #[test]
    fn names_are_unique_in_every_source() {
        let settings = settings();
        for name in [|s: &Setting| s.key.to_owned(), Setting::flag, Setting::variable] {
            let names: BTreeSet<_> = settings.iter().map(name).collect();
            assert_eq!(names.len(), settings.len());
        }
    }

    #[test]
    fn every_description_is_one_sentence() {
        for setting in settings() {
            let inner = setting
                .doc
                .strip_suffix('.')
                .unwrap_or_else(|| panic!("{}: no full stop", setting.key));
            assert!(!inner.contains(". "), "{}: more than a sentence", setting.key);
        }
    }
}
