//! Who a server of a test is over TLS: an authority of its own and a certificate for `localhost`,
//! as files, so that a client in another process can trust it.

use std::{
    error::Error,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        ServerConfig,
        crypto::ring,
        pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
    },
};

/// A certificate for `localhost`, its key, and the authority that signed it.
#[derive(Clone)]
pub struct Identity {
    config: Arc<ServerConfig>,
}

impl Identity {
    /// Writes a new authority, a certificate and its key into this directory.
    ///
    /// # Errors
    /// A file cannot be written, or a key not be made.
    pub fn write(dir: &Path) -> Result<(), Box<dyn Error>> {
        let mut params = CertificateParams::new(Vec::new())?;
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(params, KeyPair::generate()?)?;
        let key = KeyPair::generate()?;
        let params = CertificateParams::new(vec!["localhost".to_owned()])?;
        let certificate = params.signed_by(&key, &authority)?;
        fs::write(Self::authority(dir), authority.pem())?;
        fs::write(dir.join("cert.pem"), certificate.pem())?;
        fs::write(dir.join("key.pem"), key.serialize_pem())?;
        Ok(())
    }

    /// The file of the authority that a client must trust.
    pub fn authority(dir: &Path) -> PathBuf {
        dir.join("authority.pem")
    }

    /// Reads the certificate and the key that [`write`](Self::write) wrote. `speaks` are the
    /// protocols that are agreed on, as `h2`.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn read(dir: &Path, speaks: &[&str]) -> Result<Self, Box<dyn Error>> {
        let certificate = CertificateDer::from_pem_file(dir.join("cert.pem"))?;
        let key = PrivateKeyDer::from_pem_file(dir.join("key.pem"))?;
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(vec![certificate], key)?;
        config.alpn_protocols = speaks.iter().map(|name| name.as_bytes().to_vec()).collect();
        Ok(Self {
            config: Arc::new(config),
        })
    }

    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        self.config.clone().into()
    }
}

impl std::fmt::Debug for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Identity(…)")
    }
}
