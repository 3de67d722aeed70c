//! Tests of the sources, the rules between settings and the report together.

use std::time::Duration;

use clap::Command;

use super::*;

const FILE: &str = "shopkeeper.toml";
const SECRET_FILE: &str = "secret";
const SECRET: &str = "0123456789abcdef0123456789abcdef";

/// Loads with a command line and `NAME=value` lines, and `file` as `shopkeeper.toml`, which is named unless it is empty.
fn load(line: &str, environment: &str, file: &str) -> Result<Config, ConfigErrors> {
    let named = if file.is_empty() { String::new() } else { format!("--config {FILE}") };
    let words = format!("serve {named} {line}");
    let matches = Command::new("serve")
        .args(arguments())
        .try_get_matches_from(words.split_whitespace())
        .unwrap();
    let environment = environment.lines().map(|line| line.trim().split_once('=').unwrap());
    Config::load(&Flags::given(&matches), environment, |path| match path.to_str() {
        Some(FILE) => Ok(file.to_owned()),
        Some(SECRET_FILE) => Ok(format!("{SECRET}\n")),
        _ => Err(io::ErrorKind::NotFound.into()),
    })
}

/// The report's line for a key, with its spaces squeezed.
fn check(key: &str, line: &str, environment: &str, file: &str, expected: &str) {
    let report = load(line, environment, file).unwrap().report.to_string();
    let found = report
        .lines()
        .find(|line| line.trim_start_matches("# ").split(' ').next() == Some(key))
        .unwrap();
    assert_eq!(found.split_whitespace().collect::<Vec<_>>().join(" "), expected);
}

/// The faults, one a line.
fn check_faults(line: &str, environment: &str, file: &str, expected: &[&str]) {
    let faults = load(line, environment, file).expect_err("faults").0;
    let faults: Vec<_> = faults.iter().map(ToString::to_string).collect();
    assert_eq!(faults, expected);
}

#[test]
fn the_stronger_source_wins() {
    let file = "[limits]\nbody_bytes = '3MiB'";
    let variable = "SHOPKEEPER_LIMITS_BODY_BYTES=2MiB";
    let flag = "--limits-body-bytes 1MiB";
    let key = "limits.body_bytes";
    check(key, "", "", "", r#"limits.body_bytes = "4MiB" # default"#);
    check(key, "", "", file, r#"limits.body_bytes = "3MiB" # file shopkeeper.toml:2"#);
    check(
        key,
        "",
        variable,
        file,
        r#"limits.body_bytes = "2MiB" # environment SHOPKEEPER_LIMITS_BODY_BYTES"#,
    );
    check(key, flag, variable, file, r#"limits.body_bytes = "1MiB" # flag --limits-body-bytes"#);
}

#[test]
fn a_former_name_still_works() {
    let key = "index.query_cache_bytes";
    let (variable, file) = ("SHOPKEEPER_INDEX_ANSWER_BYTES=2MiB", "[index]\nanswer_bytes = '3MiB'");
    let flag = "--index-answer-bytes 1MiB";
    check(key, "", "", file, r#"index.query_cache_bytes = "3MiB" # file shopkeeper.toml:2"#);
    let of_variable =
        r#"index.query_cache_bytes = "2MiB" # environment SHOPKEEPER_INDEX_ANSWER_BYTES"#;
    check(key, "", variable, file, of_variable);
    let of_flag = r#"index.query_cache_bytes = "1MiB" # flag --index-query-cache-bytes"#;
    check(key, flag, variable, file, of_flag);
    check_faults(
        "",
        "",
        &format!("{file}\nquery_cache_bytes = '4MiB'"),
        &[
            "index.query_cache_bytes (file shopkeeper.toml:3): is set by another of its names, too: \
         file shopkeeper.toml:2",
        ],
    );
}

#[test]
fn values_are_shown_as_they_are_read() {
    check("data", "--data /srv/shop", "", "", r#"data = "/srv/shop" # flag --data"#);
    check(
        "limits.write_queue",
        "",
        "",
        "limits.write_queue = 1_000",
        "limits.write_queue = 1000 # file shopkeeper.toml:1",
    );
    check(
        "metrics.public",
        "",
        "SHOPKEEPER_METRICS_PUBLIC=false",
        "",
        "metrics.public = false # environment SHOPKEEPER_METRICS_PUBLIC",
    );
    check("metrics.public", "", "", "", r#"metrics.public = "auto" # default"#);
    let in_file = "metrics.public = true # file shopkeeper.toml:1";
    check("metrics.public", "", "", "metrics.public = true", in_file);
    check(
        "cors.origins",
        "--cors-origins https://a.example,https://b.example",
        "",
        "",
        r#"cors.origins = ["https://a.example", "https://b.example"] # flag --cors-origins"#,
    );
    check("jwt.issuer", "", "", "", "# jwt.issuer (none) # default");
}

#[test]
fn a_secret_is_shown_as_set_and_nowhere_else() {
    let environment = format!(
        "SHOPKEEPER_JWT_ISSUER=https://id.example\nSHOPKEEPER_JWT_AUDIENCE=shop\n\
         SHOPKEEPER_JWT_ALGORITHMS=HS256\nSHOPKEEPER_JWT_SECRET={SECRET}"
    );
    check(
        "jwt.secret",
        "",
        &environment,
        "",
        "# jwt.secret (set) # environment SHOPKEEPER_JWT_SECRET",
    );
    let config = load("", &environment, "").unwrap();
    assert!(!format!("{config:?}{}", config.report).contains(SECRET));
    assert_eq!(config.jwt.unwrap().keys, JwtKeys::Secret(Secret::new(SECRET.to_owned())));
}

#[test]
fn the_report_covers_the_table_and_loads_again() {
    let keys: Vec<_> =
        sections().into_iter().flat_map(|section| section.settings).map(|s| s.key).collect();
    let config =
        load("--limits-request-time 90s --cors-origins https://a.example", "", "").unwrap();
    assert_eq!(config.report.0.iter().map(|setting| setting.key).collect::<Vec<_>>(), keys);
    let again = load("", "", &config.report.to_string()).unwrap();
    assert_eq!(Config { report: config.report.clone(), ..again }, config);
}

#[test]
fn defaults_are_written_as_the_report_shows_them() {
    let settings = sections().into_iter().flat_map(|section| section.settings);
    for (setting, in_force) in settings.zip(Config::default().report.0) {
        if let Shown::Literal(literal) = in_force.value {
            assert_eq!(literal.trim_matches(['"', '[', ']']), setting.default, "{}", setting.key);
        }
    }
}

#[test]
fn defaults_are_typed() {
    let config = Config::default();
    assert_eq!(config.listen, "127.0.0.1:7700".parse().unwrap());
    assert_eq!(config.limits.body_bytes, 4 << 20);
    assert_eq!(config.limits.shutdown_time, Duration::from_secs(30));
    assert_eq!(config.index.memory_bytes, 4 << 30);
    assert_eq!(config.store.idempotency_time, Duration::from_secs(86_400));
    assert_eq!((config.rate_limit, config.jwt), (None, None));
    assert_eq!(config.cors.origins, Vec::<String>::new());
    assert_eq!(config.telemetry.otlp_endpoint, None);
}

#[test]
fn all_faults_are_listed_at_once() {
    check_faults(
        "--log-format xml",
        "SHOPKEEPER_LIMIT_BODY_BYTES=1MiB\nSHOPKEEPER_LIMITS_WRITE_QUEUE=0\nPATH=/bin",
        "lisetn = '0.0.0.0:80'\n[limits]\nbody_bytes = true\ncolour = 'red'\n",
        &[
            "SHOPKEEPER_LIMIT_BODY_BYTES (environment SHOPKEEPER_LIMIT_BODY_BYTES): unknown variable; did you mean SHOPKEEPER_LIMITS_BODY_BYTES?",
            "lisetn (file shopkeeper.toml:1): unknown key; did you mean listen?",
            "limits.colour (file shopkeeper.toml:4): unknown key",
            "limits.body_bytes (file shopkeeper.toml:3): expected a size from 1KiB to 1GiB, found the boolean true",
            "limits.write_queue (environment SHOPKEEPER_LIMITS_WRITE_QUEUE): expected a whole number from 1 to 1000000, found \"0\"",
            "log.format (flag --log-format): expected one of text, json, found \"xml\"",
        ],
    );
}

#[test]
fn sections_and_values_are_not_mixed_up() {
    check_faults("", "", "limits = 5", &["limits (file shopkeeper.toml:1): unknown key"]);
    check_faults(
        "",
        "",
        "[data]\nfolder = 'x'",
        &["data.folder (file shopkeeper.toml:2): unknown key; did you mean model.folder?"],
    );
    check_faults(
        "",
        "",
        "listen = 7700",
        &[
            "listen (file shopkeeper.toml:1): expected an IP address with a port, such as 127.0.0.1:7700, 0.0.0.0:7700 or [::]:7700, found the integer 7700",
        ],
    );
}

#[test]
fn a_file_that_cannot_be_read_is_a_fault_and_hides_no_other() {
    check_faults(
        "--config missing.toml",
        "SHOPKEEPER_LISTEN=x",
        "",
        &[
            "missing.toml (flag --config): cannot read the configuration file: entity not found",
            "listen (environment SHOPKEEPER_LISTEN): expected an IP address with a port, such as 127.0.0.1:7700, 0.0.0.0:7700 or [::]:7700, found \"x\"",
        ],
    );
    check_faults(
        "",
        "SHOPKEEPER_CONFIG=missing.toml",
        "",
        &[
            "missing.toml (environment SHOPKEEPER_CONFIG): cannot read the configuration file: entity not found",
        ],
    );
}

#[test]
fn broken_toml_names_its_line_and_shows_no_content() {
    let faults = load("", "", "[jwt]\nsecret = 'hunter2\n").unwrap_err().to_string();
    assert!(faults.contains("file shopkeeper.toml:2"), "{faults}");
    assert!(!faults.contains("hunter2"), "{faults}");
}

#[test]
fn the_file_may_be_named_by_the_environment_and_the_flag_wins() {
    let named = |line| load(line, "SHOPKEEPER_CONFIG=shopkeeper.toml", "");
    assert!(named("").is_ok());
    assert!(named("--config missing.toml").is_err());
    assert!(load("", "SHOPKEEPER_CONFIG=", "").is_ok());
}

#[test]
fn what_kubernetes_injects_is_let_pass() {
    let injected = "SHOPKEEPER_SERVICE_HOST=10.0.0.1\nSHOPKEEPER_SERVICE_PORT_HTTP=7700\n\
                    SHOPKEEPER_PORT=tcp://10.0.0.1:7700\nSHOPKEEPER_PORT_7700_TCP_ADDR=10.0.0.1";
    assert!(load("", injected, "").is_ok());
    check_faults(
        "",
        "SHOPKEEPER_PORT=8080",
        "",
        &["SHOPKEEPER_PORT (environment SHOPKEEPER_PORT): unknown variable"],
    );
}

#[cfg(unix)]
#[test]
fn a_variable_that_is_not_utf8_is_a_fault_only_if_it_is_ours() {
    use std::os::unix::ffi::OsStringExt;
    let load = |name: &str| {
        let environment = [(OsString::from(name), OsString::from_vec(vec![0xff]))];
        Config::load(&Flags::default(), environment, |_| Err(io::ErrorKind::NotFound.into()))
    };
    assert!(load("LS_COLORS").is_ok());
    assert_eq!(
        load("SHOPKEEPER_DATA").unwrap_err().0[0].to_string(),
        "data (environment SHOPKEEPER_DATA): the value is not UTF-8"
    );
}

#[test]
fn settings_that_do_not_go_together_are_refused() {
    check_faults(
        "--limits-uri-bytes 32KiB",
        "",
        "",
        &[
            "limits.uri_bytes (flag --limits-uri-bytes): must not exceed limits.header_bytes, which counts the address too",
        ],
    );
    check_faults(
        "--cors-origins *,https://a.example",
        "",
        "",
        &["cors.origins (flag --cors-origins): * stands for every origin and must stand alone"],
    );
    check_faults(
        "--rate-limit-burst 5",
        "",
        "",
        &[
            "rate_limit.burst (flag --rate-limit-burst): has no effect without rate_limit.requests_per_second",
        ],
    );
}

#[test]
fn a_rate_limit_has_a_burst() {
    let check = |line, expected: Option<(u32, u32)>| {
        let found = load(line, "", "").unwrap().rate_limit;
        assert_eq!(
            found.map(|limit| (limit.requests_per_second.get(), limit.burst.get())),
            expected,
            "{line}"
        );
    };
    check("", None);
    check("--rate-limit-requests-per-second 5", Some((5, 5)));
    check("--rate-limit-requests-per-second 5 --rate-limit-burst 20", Some((5, 20)));
    check("--rate-limit-requests-per-second 0 --rate-limit-burst 20", None);
}

/// The key material that `[jwt]` lines amount to beside an issuer and an audience, or the faults.
fn check_jwt(lines: &str, expected: Result<JwtKeys, &[&str]>) {
    let file = format!("[jwt]\nissuer = 'https://id.example'\naudience = 'shop'\n{lines}");
    let loaded = load("", "", &file).map(|config| config.jwt.unwrap().keys);
    let faults = loaded.map_err(|errors| {
        errors
            .0
            .iter()
            .map(|fault| format!("{}: {}", fault.subject, fault.message))
            .collect::<Vec<_>>()
    });
    assert_eq!(
        faults,
        expected.map_err(|faults| faults.iter().map(ToString::to_string).collect()),
        "{lines}"
    );
}

#[test]
fn keys_fit_their_algorithms() {
    let secret = || Ok(JwtKeys::Secret(Secret::new(SECRET.to_owned())));
    let key_set = |algorithms: &[JwtAlgorithm]| {
        Ok(JwtKeys::KeySet { path: "keys.json".into(), algorithms: algorithms.to_vec() })
    };
    check_jwt(&format!("algorithms = ['HS256']\nsecret = '{SECRET}'"), secret());
    check_jwt(
        "algorithms = ['HS256']\nsecret_file = 'secret'",
        Ok(JwtKeys::SecretFile("secret".into())),
    );
    check_jwt("algorithms = ['RS256']\njwks_file = 'keys.json'", key_set(&[JwtAlgorithm::Rs256]));
    check_jwt(
        "algorithms = ['ES256', 'EdDSA']\njwks_file = 'keys.json'",
        key_set(&[JwtAlgorithm::Es256, JwtAlgorithm::EdDsa]),
    );
}

#[test]
fn keys_that_do_not_fit_are_refused() {
    check_jwt("", Err(&["jwt.algorithms: required because jwt.issuer is set"]));
    check_jwt(
        "algorithms = ['HS256']",
        Err(&["jwt.secret_file: HS256 requires it, or jwt.secret"]),
    );
    check_jwt(
        "algorithms = ['HS256']\nsecret = 'short'",
        Err(&["jwt.secret: the secret is too short: HS256 requires at least 32 bytes"]),
    );
    check_jwt(
        "algorithms = ['HS256']\nsecret_file = 'missing'",
        Err(&["jwt.secret_file: cannot read missing: entity not found"]),
    );
    check_jwt(
        &format!("algorithms = ['HS256']\nsecret = '{SECRET}'\nsecret_file = 'secret'"),
        Err(&["jwt.secret_file: does not go with jwt.secret: leave one of them out"]),
    );
    check_jwt(
        &format!("algorithms = ['HS256']\nsecret = '{SECRET}'\njwks_file = 'keys.json'"),
        Err(&["jwt.jwks_file: does not go with HS256, which takes a shared secret"]),
    );
    check_jwt(
        &format!("algorithms = ['HS256', 'RS256']\nsecret = '{SECRET}'\njwks_file = 'keys.json'"),
        Err(&[
            "jwt.algorithms: HS256 must stand alone: a public key could be passed off as its secret",
        ]),
    );
    check_jwt(
        &format!("algorithms = ['RS256']\nsecret = '{SECRET}'"),
        Err(&[
            "jwt.secret: is for HS256 only; RS256, ES256 and EdDSA take jwt.jwks_file",
            "jwt.jwks_file: required by jwt.algorithms",
        ]),
    );
    check_jwt(
        "algorithms = ['RS256']\njwks_file = 'keys.json'\nshop_claim = 'x'\nrole_claim = 'x'",
        Err(&["jwt.role_claim: must be another claim than jwt.shop_claim"]),
    );
    for none in ["none", "None", "hs256", ""] {
        check_jwt(
            &format!("algorithms = ['{none}']\njwks_file = 'keys.json'"),
            Err(&[&format!(
                "jwt.algorithms: expected one of HS256, RS256, ES256, EdDSA, found {none:?}"
            )]),
        );
    }
}

#[test]
fn signed_tokens_are_on_only_with_an_issuer() {
    check_faults(
        "--jwt-issuer https://id.example",
        "",
        "[jwt]\nalgorithms = ['RS256']\njwks_file = 'keys.json'",
        &["jwt.audience (default): required because jwt.issuer is set"],
    );
    check_faults(
        "--jwt-jwks-file keys.json --jwt-audience shop",
        "",
        "",
        &[
            "jwt.audience (flag --jwt-audience): has no effect without jwt.issuer",
            "jwt.jwks_file (flag --jwt-jwks-file): has no effect without jwt.issuer",
        ],
    );
    let file = "[jwt]\nissuer = 'https://id.example'\naudience = 'shop'\nalgorithms = ['RS256']\njwks_file = 'keys.json'";
    assert!(load("", "", file).unwrap().jwt.is_some());
    assert!(load("", "SHOPKEEPER_JWT_ISSUER=", file).unwrap().jwt.is_none());
}

#[test]
fn an_outside_model_must_be_described() {
    check_faults(
        "--model-kind http --model-folder here",
        "",
        "",
        &[
            "model.folder (flag --model-folder): is for the built-in model",
            "model.url (default): required by model.kind = \"http\"",
            "model.name (default): required by model.kind = \"http\"",
            "model.dims (default): required by model.kind = \"http\"",
        ],
    );
    check_faults(
        "--model-url https://api.example.com/v1",
        "",
        "",
        &["model.url (flag --model-url): has no effect without model.kind = \"http\""],
    );
    let both = "--model-kind http --model-url http://127.0.0.1:1/v1 --model-name m --model-dims 8";
    let config = load(&format!("{both} --model-api-key-file {SECRET_FILE}"), "", "").unwrap();
    assert!(!format!("{config:?} {}", config.report).contains(SECRET));
    let ModelConfig::Http { url, api_key, .. } = config.model else { panic!() };
    assert_eq!(url, "http://127.0.0.1:1/v1");
    assert_eq!(api_key, Some(Secret::new(SECRET.to_owned())));
}
