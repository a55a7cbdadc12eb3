//! HTTPS with real certificates: what is spoken, renewal, and callers by certificate.

use std::{fs, net::SocketAddr, path::PathBuf, sync::Arc, time::Duration};

use axum::body::Body;
use http::{Request, StatusCode};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::{
    ClientConfig, RootCertStore,
    pki_types::{PrivateKeyDer, ServerName},
};
use server_runtime::{
    Authenticate as _, MemoryJournal,
    auth::{FromCertificate, Tokens},
    tls::{Tls, TlsError},
};
use tempfile::TempDir;
use tokio::{io::AsyncReadExt as _, net::TcpStream, time::timeout};
use tokio_rustls::{TlsConnector, client::TlsStream};

use crate::{
    app::{Running, run, server},
    client::Client,
    http2::{Two, get},
};

type Authority = CertifiedIssuer<'static, KeyPair>;

fn authority() -> Authority {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

/// A certificate for a name, and its key.
fn pair(authority: &Authority, name: &str) -> (rcgen::Certificate, KeyPair) {
    let params = CertificateParams::new(vec![name.to_owned()]).unwrap();
    let key = KeyPair::generate().unwrap();
    (params.signed_by(&key, authority).unwrap(), key)
}

/// The files of a server.
struct Files {
    dir: TempDir,
}

impl Files {
    fn new(authority: &Authority) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let files = Self { dir };
        files.renew(authority);
        fs::write(files.path("authority.pem"), authority.pem()).unwrap();
        files
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn renew(&self, authority: &Authority) {
        let (certificate, key) = pair(authority, "localhost");
        fs::write(self.path("cert.pem"), certificate.pem()).unwrap();
        fs::write(self.path("key.pem"), key.serialize_pem()).unwrap();
    }

    fn tls(&self) -> Tls {
        Tls::open(self.path("cert.pem"), self.path("key.pem")).unwrap()
    }
}

/// What a client trusts, speaks and shows.
fn config(
    trusts: &Authority,
    speaks: &[&str],
    shows: Option<(rcgen::Certificate, KeyPair)>,
) -> Arc<ClientConfig> {
    let mut roots = RootCertStore::empty();
    roots.add(trusts.der().clone()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots);
    let mut config = match shows {
        None => config.with_no_client_auth(),
        Some((certificate, key)) => {
            let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
            let chain = vec![certificate.der().clone()];
            config.with_client_auth_cert(chain, key).unwrap()
        }
    };
    config.alpn_protocols = speaks.iter().map(|name| name.as_bytes().to_vec()).collect();
    Arc::new(config)
}

async fn connect(
    to: SocketAddr,
    config: Arc<ClientConfig>,
) -> std::io::Result<TlsStream<TcpStream>> {
    let stream = TcpStream::connect(to).await.unwrap();
    let name = ServerName::try_from("localhost").unwrap();
    TlsConnector::from(config).connect(name, stream).await
}

fn spoken(stream: &TlsStream<TcpStream>) -> Option<&[u8]> {
    stream.get_ref().1.alpn_protocol()
}

/// The status of a request, and who the server says called.
async fn ask(server: &Running, config: Arc<ClientConfig>, token: Option<&str>) -> (u16, String) {
    let stream = connect(server.at, config).await.unwrap();
    let (mut send, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    let mut request = Request::get("/v1/here").header("host", "localhost");
    if let Some(token) = token {
        request = request.header("authorization", format!("Bearer {token}"));
    }
    let reply = send.send_request(request.body(Body::empty()).unwrap());
    let reply = reply.await.unwrap();
    let caller = reply.headers().get("riff-caller");
    let caller = caller.map(|caller| caller.to_str().unwrap().to_owned());
    (reply.status().as_u16(), caller.unwrap_or_default())
}

#[tokio::test]
async fn https_speaks_http2_where_it_is_offered_and_http1_where_it_is_not() {
    let authority = authority();
    let files = Files::new(&authority);
    let server = run(server(MemoryJournal::new()).tls(files.tls())).await;
    let both = config(&authority, &["h2", "http/1.1"], None);
    let stream = connect(server.at, both).await.unwrap();
    assert_eq!(spoken(&stream), Some(&b"h2"[..]));
    let two = Two::over(stream).await;
    assert_eq!(two.ask(get("/v1/here")).await.status(), StatusCode::OK);
    for speaks in [&["http/1.1"][..], &[]] {
        let one = config(&authority, speaks, None);
        let (status, caller) = ask(&server, one, Some("ann-token")).await;
        assert_eq!((status, caller.as_str()), (200, "ann"));
    }
    server.stop().await.unwrap();
    assert!(two.ends.await.unwrap().is_ok());
}

#[tokio::test]
async fn clear_text_to_https_is_not_answered_and_nobody_who_shakes_no_hand_holds_up_the_end() {
    let authority = authority();
    let files = Files::new(&authority);
    let server = run(server(MemoryJournal::new()).tls(files.tls())).await;
    let mut clear = TcpStream::connect(server.at).await.unwrap();
    tokio::io::AsyncWriteExt::write_all(&mut clear, b"GET /v1/here HTTP/1.1\r\n\r\n")
        .await
        .unwrap();
    let mut got = Vec::new();
    let _ = clear.read_to_end(&mut got).await;
    assert!(!got.starts_with(b"HTTP"), "{got:?}");
    let silent = Client::connect(server.at).await;
    let one = config(&authority, &[], None);
    assert_eq!(ask(&server, one, Some("ben-token")).await.0, 200);
    timeout(Duration::from_secs(1), server.stop())
        .await
        .expect("within a second")
        .unwrap();
    drop(silent);
}

#[tokio::test]
async fn a_renewed_certificate_is_for_new_connections_and_a_broken_one_for_none() {
    let (old, new) = (authority(), authority());
    let files = Files::new(&old);
    let tls = files.tls();
    let server = run(server(MemoryJournal::new()).tls(tls.clone())).await;
    let trusts_old = config(&old, &["h2"], None);
    let trusts_new = config(&new, &["h2"], None);
    let open = Two::over(connect(server.at, Arc::clone(&trusts_old)).await.unwrap()).await;
    assert!(!tls.reload().unwrap(), "nothing has changed");

    // In the middle of a renewal the key is of the other certificate.
    fs::write(files.path("cert.pem"), pair(&new, "localhost").0.pem()).unwrap();
    let error = tls.reload().unwrap_err();
    assert!(matches!(error, TlsError::Pair { .. }), "{error}");
    assert!(error.to_string().contains("do not go together"), "{error}");
    assert!(connect(server.at, Arc::clone(&trusts_old)).await.is_ok());

    files.renew(&new);
    assert!(tls.reload().unwrap());
    assert!(connect(server.at, trusts_old).await.is_err());
    let next = Two::over(connect(server.at, trusts_new).await.unwrap()).await;
    assert_eq!(next.ask(get("/v1/here")).await.status(), StatusCode::OK);
    assert_eq!(open.ask(get("/v1/here")).await.status(), StatusCode::OK);
    server.stop().await.unwrap();
}

#[tokio::test]
async fn a_certificate_of_the_clients_authority_names_the_caller() {
    let (ours, clients, others) = (authority(), authority(), authority());
    let files = Files::new(&ours);
    fs::write(files.path("clients.pem"), clients.pem()).unwrap();
    let tls = files.tls().clients_of(files.path("clients.pem")).unwrap();
    let tokens = Tokens::new().with("ben".parse().unwrap(), "ben-token");
    let who = tokens.or(FromCertificate);
    let server = server(MemoryJournal::new()).tls(tls).authenticate(who);
    let server = run(server).await;
    let shows = |from: &Authority, name: &str| config(&ours, &[], Some(pair(from, name)));
    let none = || config(&ours, &[], None);

    let named = ask(&server, shows(&clients, "worker-7"), None).await;
    assert_eq!(named, (200, "worker-7".to_owned()));
    let wild = ask(&server, shows(&clients, "*.example.org"), None).await;
    assert_eq!(wild.0, 401);
    assert_eq!(ask(&server, none(), None).await.0, 401);
    assert_eq!(ask(&server, none(), Some("ben-token")).await.1, "ben");

    // In TLS 1.3 the client hears of it when it first reads.
    if let Ok(mut stream) = connect(server.at, shows(&others, "worker-7")).await {
        assert!(stream.read_u8().await.is_err());
    }
    server.stop().await.unwrap();
}

#[test]
fn files_that_are_no_certificate_are_told_by_name() {
    let authority = authority();
    let files = Files::new(&authority);
    let open = |cert: &str, key: &str| Tls::open(files.path(cert), files.path(key));
    let missing = open("none.pem", "key.pem").unwrap_err().to_string();
    assert!(missing.contains("none.pem cannot be read"), "{missing}");
    let swapped = open("key.pem", "key.pem").unwrap_err().to_string();
    assert!(
        swapped.contains("key.pem has no certificate in PEM"),
        "{swapped}"
    );
    let swapped = open("cert.pem", "cert.pem").unwrap_err().to_string();
    assert!(
        swapped.contains("cert.pem has no private key in PEM"),
        "{swapped}"
    );
    fs::write(files.path("empty.pem"), "").unwrap();
    let empty = files.tls().clients_of(files.path("empty.pem"));
    let empty = empty.unwrap_err().to_string();
    assert!(empty.contains("empty.pem has no certificate"), "{empty}");
    fs::write(files.path("torn.pem"), &authority.pem()[..80]).unwrap();
    let torn = files.tls().clients_of(files.path("torn.pem"));
    assert!(torn.is_err());
    let text = format!("{:?}", files.tls());
    assert!(
        text.contains("key.pem") && !text.contains("PRIVATE"),
        "{text}"
    );
}
