//! The certificate of a client, which the handshake of TLS has proved to be its own.

use std::fmt;

use super::{AuthUnavailable, Authenticate, Credentials};

/// The certificate that a client has shown. An authority that the server trusts has signed it.
#[derive(Clone, PartialEq, Eq)]
pub struct ClientCertificate {
    der: Vec<u8>,
    dns_names: Vec<String>,
    uris: Vec<String>,
}

impl ClientCertificate {
    #[cfg(any(test, feature = "rustls"))]
    pub(crate) fn new(der: Vec<u8>, dns_names: Vec<String>, uris: Vec<String>) -> Self {
        Self {
            der,
            dns_names,
            uris,
        }
    }

    /// All of it, as DER.
    pub fn der(&self) -> &[u8] {
        &self.der
    }

    /// The DNS names among its alternative names.
    pub fn dns_names(&self) -> &[String] {
        &self.dns_names
    }

    /// The URIs among its alternative names, as `spiffe://example.org/worker`.
    pub fn uris(&self) -> &[String] {
        &self.uris
    }
}

impl fmt::Debug for ClientCertificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientCertificate")
            .field("dns_names", &self.dns_names)
            .field("uris", &self.uris)
            .finish_non_exhaustive()
    }
}

/// Takes the caller from the certificate of the client: its one DNS name, as it stands there.
///
/// A certificate with another number of DNS names, or with one that is no name of a caller (a
/// wildcard, for one), names nobody. Where certificates say it in another place, a closure over
/// [`Credentials::certificate`] finds it there.
#[derive(Debug, Clone, Copy, Default)]
pub struct FromCertificate;

impl Authenticate for FromCertificate {
    fn caller(&self, who: &Credentials<'_>) -> Result<Option<link_wire::Caller>, AuthUnavailable> {
        let names = who.certificate().map(ClientCertificate::dns_names);
        let Some([name]) = names else {
            return Ok(None);
        };
        Ok(name.parse().ok().filter(|_| !name.contains('*')))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_with_one_dns_name_names_a_caller_and_no_other_does() {
        let of = |names: &[&str]| {
            let names = names.iter().map(|&name| name.to_owned()).collect();
            let shown = ClientCertificate::new(vec![], names, vec!["spiffe://a/b".into()]);
            let who = Credentials {
                certificate: Some(&shown),
                ..Credentials::default()
            };
            FromCertificate.caller(&who).unwrap()
        };
        assert_eq!(of(&["ann.example"]).unwrap().as_str(), "ann.example");
        for names in [&[][..], &["ann", "ben"], &["*.example"], &["ann, ben"]] {
            assert_eq!(of(names), None, "{names:?}");
        }
        let nobody = FromCertificate.caller(&Credentials::of_token("ann"));
        assert_eq!(nobody, Ok(None));
    }
}
