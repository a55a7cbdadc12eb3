//! A header that a proxy sets, believed only from the proxy's own addresses.

use std::{fmt, net::IpAddr, str::FromStr};

use link_wire::Caller;

use super::{AuthUnavailable, Authenticate, Credentials};

/// Takes the caller from a header that a proxy in front of the server sets.
///
/// The proxy must remove the header from what it gets, and set it itself. From any other peer than
/// those of the given networks the header means nothing. Two of them, or one that is no name of a
/// caller, name nobody.
#[derive(Debug, Clone)]
pub struct FromProxy {
    header: String,
    trusted: Vec<Network>,
}

impl FromProxy {
    /// From this header, and these peers.
    pub fn new(header: impl Into<String>, trusted: impl IntoIterator<Item = Network>) -> Self {
        Self {
            header: header.into(),
            trusted: trusted.into_iter().collect(),
        }
    }
}

impl Authenticate for FromProxy {
    fn caller(&self, who: &Credentials<'_>) -> Result<Option<Caller>, AuthUnavailable> {
        let peer = who.peer().map(|peer| peer.ip());
        let trusted = |peer| self.trusted.iter().any(|network| network.contains(peer));
        if !peer.is_some_and(trusted) {
            return Ok(None);
        }
        Ok(who.header(&self.header).and_then(|name| name.parse().ok()))
    }
}

/// The addresses that begin with the same bits: `10.0.0.0/8`, `::1/128`, or one address.
///
/// An IPv4 address that arrives in the form of IPv6 (`::ffff:10.0.0.1`) is taken for what it is.
///
/// ```
/// # use server_runtime::auth::Network;
/// let network: Network = "10.1.0.0/16".parse().unwrap();
/// assert!(network.contains("10.1.2.3".parse().unwrap()));
/// assert!(!network.contains("10.2.0.1".parse().unwrap()));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    bits: u32,
}

impl Network {
    /// Whether the address is one of them.
    pub fn contains(&self, address: IpAddr) -> bool {
        let same = |one: u128, two: u128, width: u32| {
            // A shift by the whole width is no shift to a machine.
            self.bits == 0 || (one ^ two) >> (width - self.bits) == 0
        };
        match (self.address, address.to_canonical()) {
            (IpAddr::V4(one), IpAddr::V4(two)) => {
                same(u32::from(one).into(), u32::from(two).into(), 32)
            }
            (IpAddr::V6(one), IpAddr::V6(two)) => same(one.into(), two.into(), 128),
            _ => false,
        }
    }
}

impl FromStr for Network {
    type Err = InvalidNetwork;

    fn from_str(text: &str) -> Result<Self, InvalidNetwork> {
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| InvalidNetwork::Address)?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        let Some(bits) = bits else {
            return Ok(Self {
                address,
                bits: most,
            });
        };
        let digits = bits.bytes().all(|b| b.is_ascii_digit());
        let bits = bits.parse().ok().filter(|bits| digits && *bits <= most);
        Ok(Self {
            address,
            bits: bits.ok_or(InvalidNetwork::Bits { most })?,
        })
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.bits)
    }
}

/// A text that is no network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidNetwork {
    /// What stands before the slash is no address.
    #[error("a network is ADDRESS or ADDRESS/BITS, and the address is one of IPv4 or IPv6")]
    Address,
    /// What stands behind the slash is no number of bits.
    #[error("behind the slash of a network is a number of bits, from 0 to {most}")]
    Bits {
        /// How many bits such an address has.
        most: u32,
    },
}

#[cfg(test)]
mod tests {
    use super::{super::OneHeader, *};

    fn network(text: &str) -> Network {
        text.parse().unwrap()
    }

    #[test]
    fn a_network_has_the_addresses_that_begin_like_it() {
        for (net, address, is_in) in [
            ("10.0.0.0/8", "10.255.0.1", true),
            ("10.0.0.0/8", "11.0.0.1", false),
            ("10.0.0.0/8", "::ffff:10.0.0.1", true),
            ("10.0.0.1", "10.0.0.1", true),
            ("10.0.0.1", "10.0.0.2", false),
            ("0.0.0.0/0", "203.0.113.9", true),
            ("0.0.0.0/0", "2001:db8::1", false),
            ("2001:db8::/32", "2001:db8:1::1", true),
            ("2001:db8::/32", "2001:db9::1", false),
            ("::/0", "2001:db9::1", true),
            ("192.0.2.128/25", "192.0.2.127", false),
            ("192.0.2.128/25", "192.0.2.200", true),
        ] {
            let found = network(net).contains(address.parse().unwrap());
            assert_eq!(found, is_in, "{address} in {net}");
        }
    }

    #[test]
    fn what_is_no_network_says_why() {
        for text in ["", "10.0.0", "host", "10.0.0.0/8/8", "/8"] {
            let found = text.parse::<Network>();
            assert!(found.is_err(), "{text}");
        }
        assert_eq!(
            "10.0.0.0/33".parse::<Network>(),
            Err(InvalidNetwork::Bits { most: 32 })
        );
        assert_eq!(
            "10.0.0.0/+8".parse::<Network>(),
            Err(InvalidNetwork::Bits { most: 32 })
        );
        assert_eq!(
            "::/129".parse::<Network>(),
            Err(InvalidNetwork::Bits { most: 128 })
        );
    }

    struct User(&'static str);

    impl OneHeader for User {
        fn one(&self, name: &str) -> Option<&str> {
            (name == "x-user").then_some(self.0)
        }
    }

    #[test]
    fn the_header_counts_from_the_proxy_only() {
        let auth = FromProxy::new("x-user", [network("10.0.0.0/8")]);
        let ask = |peer: Option<&str>, name| {
            let peer = peer.map(|peer| peer.parse().unwrap());
            auth.caller(&Credentials::new(None, &User(name), peer, None))
                .unwrap()
        };
        let ann: Caller = "ann".parse().unwrap();
        assert_eq!(ask(Some("10.0.0.7:1"), "ann"), Some(ann));
        assert_eq!(ask(Some("192.0.2.7:1"), "ann"), None);
        assert_eq!(ask(None, "ann"), None);
        assert_eq!(ask(Some("10.0.0.7:1"), "an n"), None);
        assert_eq!(ask(Some("10.0.0.7:1"), ""), None);
    }
}
