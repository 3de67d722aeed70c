//! The URL under which browsers reach the demo; picture URLs start with it.

use std::{
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    str::FromStr,
};

use url::Url;

/// An `http` or `https` URL without a final slash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicUrl(String);

impl PublicUrl {
    /// The URL of a listener on this machine; an unspecified address becomes loopback.
    pub(crate) fn of_listener(address: SocketAddr) -> Self {
        let host = match address.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
            ip => ip,
        };
        Self(format!("http://{}", SocketAddr::new(host, address.port())))
    }
}

impl FromStr for PublicUrl {
    type Err = &'static str;

    fn from_str(raw: &str) -> Result<Self, Self::Err> {
        let fault = "must be an http or https address, such as https://demo.example.com";
        let url = Url::parse(raw).map_err(|_| fault)?;
        let is_plain = url.query().is_none()
            && url.fragment().is_none()
            && url.username().is_empty()
            && url.password().is_none();
        if !matches!(url.scheme(), "http" | "https") || !is_plain {
            return Err(fault);
        }
        Ok(Self(url.as_str().trim_end_matches('/').to_owned()))
    }
}

impl fmt::Display for PublicUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_listener(address: &str) -> String {
        PublicUrl::of_listener(address.parse().unwrap()).to_string()
    }

    #[test]
    fn an_unspecified_address_becomes_loopback() {
        assert_eq!(of_listener("127.0.0.1:7700"), "http://127.0.0.1:7700");
        assert_eq!(of_listener("192.0.2.7:80"), "http://192.0.2.7:80");
        assert_eq!(of_listener("0.0.0.0:7700"), "http://127.0.0.1:7700");
        assert_eq!(of_listener("[::]:7700"), "http://[::1]:7700");
    }

    #[test]
    fn a_public_url_is_an_http_url() {
        let read = |raw: &str| raw.parse::<PublicUrl>().map(|url| url.to_string());
        assert_eq!(read("https://demo.example.com/"), Ok("https://demo.example.com".to_owned()));
        assert_eq!(read("http://host:8080/shop"), Ok("http://host:8080/shop".to_owned()));
        for raw in ["", "demo.example.com", "ftp://host", "https://host?x=1", "https://a:b@host"] {
            assert!(read(raw).is_err(), "{raw}");
        }
    }
}
