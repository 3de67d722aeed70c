//! Rejects requests whose `Host` header is missing, repeated or malformed (RFC 9112, 3.2): a proxy
//! in front could read another host in them.

use axum::{
    extract::Request,
    http::{HeaderMap, Version, header, uri::Authority},
    middleware::Next,
    response::{IntoResponse, Response},
};

use super::errors::ApiError;

/// The layer around all routes. Nothing depends on the host itself, so that the one in an
/// absolute request target, which has precedence, needs no more than a valid `Host` beside it.
pub(crate) async fn layer(request: Request, next: Next) -> Response {
    match is_valid(request.version(), request.headers()) {
        true => next.run(request).await,
        false => ApiError::InvalidHost.into_response(),
    }
}

fn is_valid(version: Version, headers: &HeaderMap) -> bool {
    let mut hosts = headers.get_all(header::HOST).iter();
    match (hosts.next(), hosts.next()) {
        (None, _) => version < Version::HTTP_11,
        // Empty where the target has no host.
        (Some(host), None) => host.is_empty() || is_authority(host.as_bytes()),
        (Some(_), Some(_)) => false,
    }
}

/// Whether this is a host, with or without a port.
fn is_authority(host: &[u8]) -> bool {
    !host.contains(&b'@') && Authority::try_from(host).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(version: Version, hosts: &[&'static str], expected: bool) {
        let hosts = hosts.iter().map(|host| (header::HOST, host.parse().unwrap()));
        assert_eq!(is_valid(version, &hosts.clone().collect()), expected, "{hosts:?}");
    }

    #[test]
    fn a_request_has_one_host() {
        for good in ["shop.example", "shop:7700", "127.0.0.1:7700", "[::1]:7700", "a_b", ""] {
            check(Version::HTTP_11, &[good], true);
            check(Version::HTTP_10, &[good], true);
        }
        for bad in ["a b", "a/b", "user@shop", "shop, other", "https://shop", "[::1", "shop?"] {
            check(Version::HTTP_11, &[bad], false);
        }
        check(Version::HTTP_11, &[], false);
        check(Version::HTTP_10, &[], true);
        for version in [Version::HTTP_10, Version::HTTP_11] {
            check(version, &["shop", "other"], false);
            check(version, &["shop", "shop"], false);
        }
    }
}
