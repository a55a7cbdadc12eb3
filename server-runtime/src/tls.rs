//! HTTPS: the certificate of the server, its renewal, and the certificates of clients.

use std::{
    fmt, fs, io,
    path::{Path, PathBuf},
    sync::{Arc, PoisonError, RwLock},
};

use rustls::{
    RootCertStore, ServerConfig,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, pem, pem::PemObject as _},
    server::{WebPkiClientVerifier, danger::ClientCertVerifier},
    version,
};
use tokio::net::TcpStream;
use tokio_rustls::{TlsAcceptor, server::TlsStream};

use crate::auth::ClientCertificate;

/// What is spoken over TLS, the better first.
const HTTP_2: &[u8] = b"h2";
const HTTP_1: &[u8] = b"http/1.1";

/// The certificate of a server and its key, from two files in PEM, and the authority of its
/// clients, if they may show certificates. TLS 1.3 and 1.2. Clones are the same.
///
/// A server looks at the files once a minute, and takes what was renewed: connections that are open
/// go on under what they began with, and new ones get the new certificate. Files that do not fit
/// together, as in the middle of a renewal, are told and change nothing.
///
/// ```no_run
/// # use server_runtime::tls::Tls;
/// let tls = Tls::open("/etc/riff/cert.pem", "/etc/riff/key.pem")?;
/// # Ok::<(), server_runtime::tls::TlsError>(())
/// ```
#[derive(Clone)]
pub struct Tls(Arc<Shared>);

struct Shared {
    paths: Paths,
    now: RwLock<Now>,
}

#[derive(Debug, Clone)]
struct Paths {
    certificates: PathBuf,
    key: PathBuf,
    authority: Option<PathBuf>,
}

/// What the files had, and what was made of it.
struct Now {
    bytes: Files,
    config: Arc<ServerConfig>,
}

#[derive(PartialEq, Eq)]
struct Files {
    certificates: Vec<u8>,
    key: Vec<u8>,
    authority: Option<Vec<u8>>,
}

/// A connection after its handshake.
pub(crate) struct Secured {
    pub(crate) stream: TlsStream<TcpStream>,
    pub(crate) http2: bool,
    pub(crate) certificate: Option<ClientCertificate>,
}

/// Why there is no TLS with these files.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TlsError {
    /// A file cannot be read.
    #[error("{} cannot be read", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A file is no PEM, or has another thing in it than it should.
    #[error("{} has no {what} in PEM that could be used: {why}", path.display())]
    Pem {
        /// The file.
        path: PathBuf,
        /// What should stand there.
        what: &'static str,
        /// What is wrong.
        why: String,
    },
    /// The certificate and the key do not fit together, or are of a kind that is not used.
    #[error("{} and {} do not go together: {why}", certificates.display(), key.display())]
    Pair {
        /// The file of the certificate.
        certificates: PathBuf,
        /// That of the key.
        key: PathBuf,
        /// What is wrong.
        why: String,
    },
}

impl Tls {
    /// Reads the certificate of the server, followed by those that lead to its authority, and its
    /// private key (PKCS #8, PKCS #1 or SEC 1).
    ///
    /// # Errors
    /// [`TlsError`].
    pub fn open(
        certificates: impl Into<PathBuf>,
        key: impl Into<PathBuf>,
    ) -> Result<Self, TlsError> {
        Self::of(Paths {
            certificates: certificates.into(),
            key: key.into(),
            authority: None,
        })
    }

    /// The same, and clients may show a certificate that one of the authorities in this file has
    /// signed (mTLS): see [`FromCertificate`](crate::auth::FromCertificate). Who shows none has
    /// to prove another way who they are; one of another authority ends the handshake.
    ///
    /// # Errors
    /// [`TlsError`].
    pub fn clients_of(self, authority: impl Into<PathBuf>) -> Result<Self, TlsError> {
        Self::of(Paths {
            authority: Some(authority.into()),
            ..self.0.paths.clone()
        })
    }

    fn of(paths: Paths) -> Result<Self, TlsError> {
        let bytes = paths.read()?;
        let config = paths.config(&bytes)?;
        let now = RwLock::new(Now { bytes, config });
        Ok(Self(Arc::new(Shared { paths, now })))
    }

    /// Reads the files again; tells whether they have changed. A server does this by itself.
    ///
    /// # Errors
    /// [`TlsError`]; then new connections get what they got before.
    pub fn reload(&self) -> Result<bool, TlsError> {
        let Shared { paths, now } = &*self.0;
        let bytes = paths.read()?;
        if now.read().unwrap_or_else(PoisonError::into_inner).bytes == bytes {
            return Ok(false);
        }
        let config = paths.config(&bytes)?;
        *now.write().unwrap_or_else(PoisonError::into_inner) = Now { bytes, config };
        tracing::info!(
            certificates = %paths.certificates.display(),
            "new connections get the renewed certificate"
        );
        Ok(true)
    }

    pub(crate) async fn accept(&self, stream: TcpStream) -> io::Result<Secured> {
        let now = self.0.now.read();
        let config = Arc::clone(&now.unwrap_or_else(PoisonError::into_inner).config);
        let stream = TlsAcceptor::from(config).accept(stream).await?;
        let (_, session) = stream.get_ref();
        let shown = session.peer_certificates().and_then(<[_]>::first);
        Ok(Secured {
            http2: session.alpn_protocol() == Some(HTTP_2),
            certificate: shown.and_then(names),
            stream,
        })
    }
}

impl fmt::Debug for Tls {
    /// Without the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Tls").field(&self.0.paths).finish()
    }
}

impl Paths {
    fn read(&self) -> Result<Files, TlsError> {
        Ok(Files {
            certificates: read(&self.certificates)?,
            key: read(&self.key)?,
            authority: self.authority.as_deref().map(read).transpose()?,
        })
    }

    fn config(&self, files: &Files) -> Result<Arc<ServerConfig>, TlsError> {
        let chain = certificates(&self.certificates, &files.certificates)?;
        let key = PrivateKeyDer::from_pem_slice(&files.key)
            .map_err(|error| not_pem(&self.key, "private key", &error))?;
        let provider = Arc::new(ring::default_provider());
        let pair = |error: rustls::Error| TlsError::Pair {
            certificates: self.certificates.clone(),
            key: self.key.clone(),
            why: error.to_string(),
        };
        let config = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&version::TLS13, &version::TLS12])
            .map_err(pair)?;
        let config = match (&self.authority, &files.authority) {
            (Some(path), Some(bytes)) => config.with_client_cert_verifier(verifier(path, bytes)?),
            _ => config.with_no_client_auth(),
        };
        let mut config = config.with_single_cert(chain, key).map_err(pair)?;
        config.alpn_protocols = vec![HTTP_2.to_vec(), HTTP_1.to_vec()];
        Ok(Arc::new(config))
    }
}

fn verifier(path: &Path, bytes: &[u8]) -> Result<Arc<dyn ClientCertVerifier>, TlsError> {
    let unused = |why: String| TlsError::Pem {
        path: path.to_owned(),
        what: "authority",
        why,
    };
    let mut roots = RootCertStore::empty();
    for certificate in certificates(path, bytes)? {
        let added = roots.add(certificate);
        added.map_err(|error| unused(error.to_string()))?;
    }
    let provider = Arc::new(ring::default_provider());
    WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider)
        .allow_unauthenticated()
        .build()
        .map_err(|error| unused(error.to_string()))
}

fn certificates(path: &Path, bytes: &[u8]) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(bytes).collect();
    let found = found.map_err(|error| not_pem(path, "certificate", &error))?;
    if found.is_empty() {
        return Err(not_pem(path, "certificate", &pem::Error::NoItemsFound));
    }
    Ok(found)
}

fn not_pem(path: &Path, what: &'static str, error: &pem::Error) -> TlsError {
    TlsError::Pem {
        path: path.to_owned(),
        what,
        why: error.to_string(),
    }
}

fn read(path: &Path) -> Result<Vec<u8>, TlsError> {
    fs::read(path).map_err(|source| TlsError::Read {
        path: path.to_owned(),
        source,
    })
}

/// What a certificate says of its owner. The handshake has verified it.
fn names(shown: &CertificateDer<'_>) -> Option<ClientCertificate> {
    let certificate = webpki::EndEntityCert::try_from(shown).ok()?;
    let owned = |name: &str| name.to_owned();
    Some(ClientCertificate::new(
        shown.to_vec(),
        certificate.valid_dns_names().map(owned).collect(),
        certificate.valid_uri_names().map(owned).collect(),
    ))
}
