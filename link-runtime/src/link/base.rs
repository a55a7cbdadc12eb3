//! The URL of a server: read, checked, and brought to one form, so that one server is one link.

use url::{Host, Url};

/// Why a text is no URL of a server.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidBase {
    /// It does not read as a URL with a host.
    #[error("{base:?} is no URL of a server: {why}; write it as https://HOST or http://HOST:PORT")]
    Unreadable {
        /// The text.
        base: String,
        /// What the URL reader said.
        why: String,
    },
    /// It is a URL that no link can talk over.
    #[error("{base:?} begins with {scheme}:, and a link speaks https: or http:")]
    Scheme {
        /// The text.
        base: String,
        /// What stands before its colon.
        scheme: String,
    },
    /// It has a part that belongs to no server.
    #[error("{base:?} has {part}, which is no part of the URL of a server; leave it out")]
    Part {
        /// The text.
        base: String,
        /// The part: a query, a fragment, or a user.
        part: &'static str,
    },
    /// It is an `https:` URL, and this program was built without TLS.
    #[error(
        "{base:?} needs TLS, and this program was built without it; build it with the feature \
         `rustls`"
    )]
    NoTls {
        /// The text.
        base: String,
    },
    /// The URL is good, but the HTTP client cannot be made on this machine.
    #[error("{why}")]
    NoClient {
        /// What the HTTP library said.
        why: String,
    },
}

/// The one form of a server's URL: its path ends with one slash.
pub(super) fn normal(text: &str) -> Result<Url, InvalidBase> {
    let base = || text.to_owned();
    let mut url = Url::parse(text.trim()).map_err(|error| InvalidBase::Unreadable {
        base: base(),
        why: error.to_string(),
    })?;
    match url.scheme() {
        "https" if !cfg!(feature = "rustls") => return Err(InvalidBase::NoTls { base: base() }),
        "http" | "https" => {}
        scheme => {
            return Err(InvalidBase::Scheme {
                base: base(),
                scheme: scheme.into(),
            });
        }
    }
    let part = if !url.username().is_empty() || url.password().is_some() {
        Some("a user")
    } else if url.query().is_some() {
        Some("a query")
    } else if url.fragment().is_some() {
        Some("a fragment")
    } else {
        None
    };
    if let Some(part) = part {
        // The text may hold a password, so it is not said again.
        let base = if part == "a user" {
            url.host_str().unwrap_or_default().into()
        } else {
            base()
        };
        return Err(InvalidBase::Part { base, part });
    }
    let path = format!("{}/", url.path().trim_end_matches('/'));
    url.set_path(&path);
    Ok(url)
}

/// Whether the server runs on this machine, as far as its URL tells.
pub(super) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => {
            address.is_loopback() || address.to_ipv4_mapped().is_some_and(|v4| v4.is_loopback())
        }
        Some(Host::Domain(name)) => {
            let name = name.trim_end_matches('.');
            name == "localhost" || name.ends_with(".localhost")
        }
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normal_text(text: &str) -> String {
        normal(text).unwrap().into()
    }

    #[test]
    fn one_server_has_one_form() {
        for text in [
            "http://Riff.example",
            "http://riff.example:80/",
            " http://riff.example// ",
        ] {
            assert_eq!(normal_text(text), "http://riff.example/", "{text}");
        }
        assert_eq!(normal_text("http://h:8080/api"), "http://h:8080/api/");
        assert_ne!(normal_text("http://h:8080"), normal_text("http://h:8081"));
    }

    #[test]
    fn what_is_no_url_of_a_server_says_why() {
        for (text, says) in [
            ("riff.example", "https://HOST"),
            ("", "https://HOST"),
            ("riff.example:8080", "riff.example:"),
            ("ftp://riff.example", "ftp:"),
            ("http://h/?a=b", "a query"),
            ("http://h/#a", "a fragment"),
            ("http://h:99999", "port"),
        ] {
            let error = normal(text).unwrap_err().to_string();
            assert!(error.contains(says), "{text}: {error}");
        }
        let error = normal("http://ann:secret@h/").unwrap_err().to_string();
        assert!(
            error.contains("a user") && !error.contains("secret"),
            "{error}"
        );
    }

    #[cfg(not(feature = "rustls"))]
    #[test]
    fn https_without_tls_says_which_feature_is_missing() {
        let error = normal("https://riff.example").unwrap_err();
        assert!(matches!(error, InvalidBase::NoTls { .. }));
        assert!(error.to_string().contains("`rustls`"));
    }

    #[test]
    fn loopback_is_known_by_address_and_by_name() {
        for (text, loopback) in [
            ("http://127.0.0.1", true),
            ("http://127.8.9.1:80", true),
            ("http://[::1]:8080", true),
            ("http://[::ffff:127.0.0.1]", true),
            ("http://LOCALHOST", true),
            ("http://riff.localhost.", true),
            ("http://localhost.example", false),
            ("http://192.168.0.1", false),
            ("http://[2001:db8::1]", false),
        ] {
            assert_eq!(is_loopback(&normal(text).unwrap()), loopback, "{text}");
        }
    }
}
