//! The address of a database, and whether the connection to it is encrypted and verified.

use std::{fmt, net::IpAddr, path::PathBuf, str::FromStr, time::Duration};

use thiserror::Error;
use tokio_postgres::config::{Config, Host, SslMode};
use url::form_urlencoded;

/// An address such as `postgres://user:password@host/database`. `Display` and `Debug` omit the
/// password.
#[derive(Clone, PartialEq)]
pub struct DatabaseAddress {
    pub(super) config: Config,
    pub(super) encryption: Encryption,
}

/// Whether the connection to the database is encrypted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Encryption {
    /// Unencrypted: the database runs on this machine, or the operator disabled TLS.
    None,
    /// TLS, with a certificate that is valid for the name of the host.
    Verified {
        /// Trusted root certificates; those of the system if `None`.
        roots: Option<PathBuf>,
    },
}

/// Why a text is not the address of a database.
#[derive(Debug, Error)]
pub enum BadAddress {
    /// The scheme is another one.
    #[error("must begin with postgres://")]
    Scheme,
    /// A part of it cannot be parsed.
    #[error("is not an address such as postgres://user:password@host/database ({0})")]
    Unreadable(String),
    /// An `sslmode` that does not verify the server.
    #[error("sslmode can be verify-full (the default), require (the same here) or disable")]
    SslMode,
}

impl FromStr for DatabaseAddress {
    type Err = BadAddress;

    fn from_str(text: &str) -> Result<Self, BadAddress> {
        if !text.starts_with("postgres://") && !text.starts_with("postgresql://") {
            return Err(BadAddress::Scheme);
        }
        let (place, query) = text.split_once('?').unwrap_or((text, ""));
        let (mut mode, mut roots) = (None, None);
        let mut passed_on = form_urlencoded::Serializer::new(String::new());
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            match &*name {
                "sslmode" => mode = Some(value.into_owned()),
                "sslrootcert" => roots = Some(PathBuf::from(&*value)),
                _ => drop(passed_on.append_pair(&name, &value)),
            }
        }
        let unreadable = |error: tokio_postgres::Error| BadAddress::Unreadable(why(&error));
        // `tokio_postgres` decodes `+` literally, not as a space.
        let passed_on = passed_on.finish().replace('+', "%20");
        let mut config: Config = format!("{place}?{passed_on}").parse().map_err(unreadable)?;
        if config.get_hosts().is_empty() {
            return Err(BadAddress::Unreadable("no host".to_owned()));
        }
        let encryption = match mode.as_deref() {
            Some("disable") => Encryption::None,
            Some("verify-full" | "require") => Encryption::Verified { roots },
            Some(_) => return Err(BadAddress::SslMode),
            None if roots.is_none() && config.get_hosts().iter().all(is_local) => Encryption::None,
            None => Encryption::Verified { roots },
        };
        config.ssl_mode(match encryption {
            Encryption::None => SslMode::Disable,
            Encryption::Verified { .. } => SslMode::Require,
        });
        config.application_name("shopkeeper");
        // Detects a host that disappeared without closing the connection.
        config.keepalives_idle(Duration::from_secs(10));
        config.keepalives_interval(Duration::from_secs(5));
        config.keepalives_retries(3);
        config.tcp_user_timeout(Duration::from_secs(20));
        Ok(Self { config, encryption })
    }
}

/// Whether a host is this machine.
fn is_local(host: &Host) -> bool {
    match host {
        Host::Unix(_) => true,
        Host::Tcp(name) => {
            name == "localhost" || name.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
        }
    }
}

fn why(error: &tokio_postgres::Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string)
}

impl fmt::Display for DatabaseAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("postgres://")?;
        for (at, host) in self.config.get_hosts().iter().enumerate() {
            let separator = if at == 0 { "" } else { "," };
            match host {
                Host::Tcp(name) => write!(f, "{separator}{name}")?,
                Host::Unix(path) => write!(f, "{separator}{}", path.display())?,
            }
            let ports = self.config.get_ports();
            if let Some(port) = ports.get(at).or(ports.first()) {
                write!(f, ":{port}")?;
            }
        }
        write!(f, "/{}", self.config.get_dbname().unwrap_or_default())
    }
}

impl fmt::Debug for DatabaseAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encryption(text: &str) -> Encryption {
        text.parse::<DatabaseAddress>().unwrap().encryption
    }

    #[test]
    fn the_password_is_never_displayed() {
        let address: DatabaseAddress =
            "postgres://ann:s3cr3t@db.example:5433/shop".parse().unwrap();
        assert_eq!(address.to_string(), "postgres://db.example:5433/shop");
        assert_eq!(format!("{address:?}"), "postgres://db.example:5433/shop");
        for bad in ["ann:s3cr3t@db", "postgres://ann:s3cr3t@db:port/x", "postgres://ann:s3cr3t@/x"]
        {
            let error = bad.parse::<DatabaseAddress>().unwrap_err();
            assert!(!format!("{error} {error:?}").contains("s3cr3t"), "{error}");
        }
    }

    #[test]
    fn remote_hosts_are_verified_by_default() {
        let verified = Encryption::Verified { roots: None };
        assert_eq!(encryption("postgres://db.example/shop"), verified);
        assert_eq!(encryption("postgres://db.example/shop?sslmode=require"), verified);
        assert_eq!(encryption("postgres://localhost/shop?sslmode=verify-full"), verified);
        assert_eq!(encryption("postgres://localhost,db.example/shop"), verified);
        for plain in ["localhost", "127.0.0.1:5433", "[::1]"] {
            assert_eq!(encryption(&format!("postgres://{plain}/shop")), Encryption::None);
        }
        assert_eq!(encryption("postgres://db.example/shop?sslmode=disable"), Encryption::None);
        let roots = Some(PathBuf::from("/etc/my ca.pem"));
        let with_roots = "postgres://localhost/shop?sslrootcert=/etc/my%20ca.pem";
        assert_eq!(encryption(with_roots), Encryption::Verified { roots });
    }

    #[test]
    fn modes_without_verification_are_rejected() {
        for mode in ["prefer", "allow", "verify-ca", "nonsense"] {
            let address = format!("postgres://db.example/shop?sslmode={mode}");
            let refused = address.parse::<DatabaseAddress>();
            assert!(matches!(refused, Err(BadAddress::SslMode)), "{mode}");
        }
    }

    #[test]
    fn other_parameters_are_passed_on() {
        let address = "postgres://a,b/shop?target_session_attrs=read-write&sslmode=disable\
                       &options=-c%20geqo%3Doff";
        let address: DatabaseAddress = address.parse().unwrap();
        assert_eq!(address.config.get_options(), Some("-c geqo=off"));
        assert_eq!(address.config.get_hosts().len(), 2);
        assert!("postgres://a/shop?colour=red".parse::<DatabaseAddress>().is_err());
    }
}
