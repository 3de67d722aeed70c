//! Names of the systems, and addresses of others.

use std::{net::ToSocketAddrs, str::FromStr};

use anyhow::Context;
use bench::client::Target;
use clap::ValueEnum;

use crate::ours::Encoder;

/// A system that the benchmark starts itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum System {
    /// Shopkeeper with the instant query encoder
    OursInstant,
    /// Shopkeeper with the deep query encoder for every query
    OursDeep,
    /// Typesense, words only
    Typesense,
    /// PostgreSQL full-text search and pgvector, with vectors of our model
    Postgres,
    /// SQLite FTS5 in the benchmark's process
    Sqlite,
}

impl System {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::OursInstant => "ours, instant",
            Self::OursDeep => "ours, deep",
            Self::Typesense => "Typesense",
            Self::Postgres => "PostgreSQL + pgvector",
            Self::Sqlite => "SQLite FTS5",
        }
    }

    /// The query encoder of our own service.
    pub(crate) fn encoder(self) -> Encoder {
        if self == Self::OursDeep { Encoder::Deep } else { Encoder::Instant }
    }
}

/// A system that is running already: `INTERFACE+http://TOKEN@HOST:PORT`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Peer {
    interface: Interface,
    token: String,
    host: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Interface {
    Shopkeeper,
    Typesense,
}

impl FromStr for Peer {
    type Err = String;

    fn from_str(url: &str) -> Result<Self, String> {
        let expected = || format!("{url:?} is not INTERFACE+http://TOKEN@HOST:PORT");
        let (interface, rest) = url.split_once("+http://").ok_or_else(expected)?;
        let (token, host) = rest.rsplit_once('@').ok_or_else(expected)?;
        let interface = match interface {
            "shopkeeper" => Interface::Shopkeeper,
            "typesense" => Interface::Typesense,
            _ => return Err("the interface is shopkeeper or typesense".to_owned()),
        };
        let host = host.trim_end_matches('/');
        Ok(Self { interface, token: token.to_owned(), host: host.to_owned() })
    }
}

impl Peer {
    /// The column of its values.
    pub(crate) fn name(&self) -> String {
        self.host.clone()
    }

    pub(crate) fn speaks_typesense(&self) -> bool {
        self.interface == Interface::Typesense
    }

    pub(crate) fn target(&self) -> anyhow::Result<Target> {
        let address = self.host.to_socket_addrs().with_context(|| self.host.clone())?.next();
        let address = address.with_context(|| format!("{} has no address", self.host))?;
        Ok(Target { address, token: self.token.as_str().into() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peer_is_given_by_its_interface_token_and_address() {
        let peer: Peer = "typesense+http://key@127.0.0.1:8108/".parse().unwrap();
        assert!(peer.speaks_typesense());
        let target = peer.target().unwrap();
        assert_eq!((target.address.port(), target.token.as_ref()), (8108, "key"));
        for wrong in ["http://127.0.0.1:1", "solr+http://key@127.0.0.1:1", "typesense+http://h:1"] {
            assert!(wrong.parse::<Peer>().is_err(), "{wrong}");
        }
    }
}
