//! What all links of the process trust over HTTPS, made once: to read the certificates of the
//! system takes milliseconds, and a link makes a client after each fault.

use std::sync::{Arc, Mutex, PoisonError};

use rustls::{ClientConfig, crypto::ring};
use rustls_platform_verifier::BuilderVerifierExt as _;

/// None until it could be made.
static CONFIG: Mutex<Option<ClientConfig>> = Mutex::new(None);

/// The certificates of the platform, TLS 1.3 and 1.2, and HTTP/2 before HTTP/1.1. A clone is
/// cheap, and shares the sessions that can be resumed.
pub(super) fn config() -> Result<ClientConfig, String> {
    let mut known = CONFIG.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(config) = &*known {
        return Ok(config.clone());
    }
    let config = make().map_err(|error| error.to_string())?;
    Ok(known.insert(config).clone())
}

fn make() -> Result<ClientConfig, rustls::Error> {
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_platform_verifier()?
        .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}
