//! The links of this process, so that all who talk to one server share one.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, OnceLock, PoisonError, Weak, atomic::AtomicBool},
};

use link_wire::Limits;
use url::Url;

use super::{InvalidBase, Link, Shared};

#[derive(Default)]
struct Entry {
    /// Outlives the links, since it is a fact about the process.
    met: Arc<AtomicBool>,
    /// One for each set of limits. Weak, so that a server that nobody talks to any more costs
    /// no connection.
    links: Vec<Weak<Shared>>,
}

static LINKS: OnceLock<Mutex<HashMap<String, Entry>>> = OnceLock::new();

/// The link of this server with these limits.
pub(super) fn link(base: &Url, limits: Limits, h2c: bool) -> Result<Link, InvalidBase> {
    let mut links = LINKS
        .get_or_init(Mutex::default)
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    let entry = links.entry(base.as_str().to_owned()).or_default();
    entry.links.retain(|link| link.strong_count() > 0);
    let living = entry.links.iter().filter_map(Weak::upgrade).map(Link);
    if let Some(link) = living.into_iter().find(|link| link.is(&limits, h2c)) {
        return Ok(link);
    }
    let link = Link::new(base, limits, h2c, entry.met.clone())?;
    entry.links.push(Arc::downgrade(&link.0));
    Ok(link)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crate::link;

    use super::*;

    #[test]
    fn one_server_with_one_set_of_limits_is_one_link() {
        let other = Limits {
            attempt: Duration::from_secs(1),
            ..Limits::DEFAULT
        };
        let first = link::of("http://one.example").unwrap();
        let again = link::of("http://ONE.example:80//").unwrap();
        let limited = link::with("http://one.example", other).unwrap();
        let elsewhere = link::of("http://two.example").unwrap();
        assert!(Arc::ptr_eq(&first.0, &again.0));
        assert!(!Arc::ptr_eq(&first.0, &limited.0));
        assert!(!Arc::ptr_eq(&first.0, &elsewhere.0));
        assert_eq!(first.base(), "http://one.example");
    }

    #[test]
    fn a_link_that_nobody_holds_is_gone() {
        let first = link::of("http://gone.example").unwrap();
        assert!(first.next_signal().ends_with(".1"));
        drop(first);
        let second = link::of("http://gone.example").unwrap();
        assert!(second.next_signal().ends_with(".1"));
    }
}
