//! `riff` and `riff-server` over HTTPS, with an authority of their own.

use std::{fs, path::PathBuf};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};

use crate::world::{Dir, Server, client, no, ok, server};

/// Where the files are.
struct Files {
    dir: tempfile::TempDir,
}

impl Files {
    fn new() -> Self {
        let files = Self {
            dir: tempfile::tempdir().unwrap(),
        };
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let authority = CertifiedIssuer::self_signed(params, key).unwrap();
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        let certificate = params.signed_by(&key, &authority).unwrap();
        fs::write(files.path("ca.pem"), authority.pem()).unwrap();
        fs::write(files.path("cert.pem"), certificate.pem()).unwrap();
        fs::write(files.path("key.pem"), key.serialize_pem()).unwrap();
        files
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }
}

#[test]
fn a_command_and_its_log_over_https() {
    let (dir, files) = (Dir::new(), Files::new());
    let ann = dir.token("ann");
    let process = Server::start_with(&dir, |command| {
        command.arg("--tls-cert").arg(files.path("cert.pem"));
        command.arg("--tls-key").arg(files.path("key.pem"))
    });
    let port = process.address.rsplit(':').next().unwrap();
    let riff = |trusts: &str| {
        let mut command = client();
        command
            .env("RIFF_TOKEN", &ann)
            .env("RIFF_SERVER", format!("https://localhost:{port}"))
            .env("SSL_CERT_FILE", files.path(trusts));
        command
    };
    let posted = ok(riff("ca.pem").args(["post", "general", "one"]));
    assert_eq!(posted, "posted as 1 of general\n");
    let history = ok(riff("ca.pem").args(["history", "general"]));
    assert!(history.ends_with("one\n"), "{history}");
    let (code, _) = process.stop();
    assert_eq!(code, Some(0));
    let calls = dir.log();
    assert_eq!(
        calls
            .iter()
            .filter(|record| record["call"].is_string())
            .count(),
        1
    );
}

#[test]
fn files_that_do_not_go_together_stop_the_start_before_anything_is_made() {
    let (dir, files) = (Dir::new(), Files::new());
    let other = Files::new();
    let serve = |cert: PathBuf, key: PathBuf| {
        let mut command = server();
        command.args(["serve", "--listen", "127.0.0.1:0", "--dir"]);
        command.arg(dir.path());
        command
            .arg("--tls-cert")
            .arg(cert)
            .arg("--tls-key")
            .arg(key);
        command
    };
    let (code, told) = no(&mut serve(files.path("cert.pem"), other.path("key.pem")));
    assert_eq!(code, 1);
    assert!(told.contains("do not go together"), "{told}");
    let (code, told) = no(&mut serve(files.path("none.pem"), files.path("key.pem")));
    assert_eq!(code, 1);
    assert!(told.contains("none.pem cannot be read"), "{told}");
    let made: Vec<_> = fs::read_dir(dir.path()).unwrap().collect();
    assert!(made.is_empty(), "{made:?}");
    let (code, told) = no(server()
        .args(["serve", "--tls-cert", "cert.pem", "--dir"])
        .arg(dir.path()));
    assert_eq!(code, 2);
    assert!(told.contains("--tls-key"), "{told}");
}
