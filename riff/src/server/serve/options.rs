//! What of a server can be set: each by a flag, or by a variable of the environment.

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use clap::Args;
use riff_api::RIFF;
use riff_link::server::{
    CallLimits, EngineOptions, Server, State,
    auth::{FromProxy, Network},
    tls::{Tls, TlsError},
};

use super::say::Format;
use crate::server::amount;

/// What can be set.
#[derive(Debug, Args)]
pub(in crate::server) struct Options {
    /// The directory of the log and the tokens; made when it is missing.
    #[arg(long, value_name = "DIR", env = "RIFF_DIR")]
    pub(super) dir: PathBuf,
    /// The address and port; port 0 takes a free one.
    #[arg(
        long,
        value_name = "ADDRESS",
        env = "RIFF_LISTEN",
        default_value = "127.0.0.1:7433"
    )]
    pub(super) listen: SocketAddr,
    /// The form of the lines on stderr. `RIFF_LOG` says which: as `warn`, or `riff_server=info`.
    #[arg(
        long,
        value_name = "FORMAT",
        env = "RIFF_LOG_FORMAT",
        default_value = "text"
    )]
    pub(super) log_format: Format,
    #[command(flatten)]
    pub(super) transport: Transport,
    #[command(flatten)]
    pub(super) callers: Callers,
    #[command(flatten)]
    pub(super) requests: Requests,
    #[command(flatten)]
    pub(super) checkpoints: Checkpoints,
    #[command(flatten)]
    pub(super) memory: Memory,
}

/// What is spoken.
#[derive(Debug, Args)]
#[command(next_help_heading = "Transport")]
pub(super) struct Transport {
    /// The certificate of the server in PEM, with those that lead to its authority: it then speaks
    /// HTTPS, and no HTTP. A renewed file is taken within a minute.
    #[arg(long, value_name = "FILE", env = "RIFF_TLS_CERT", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// The private key of the certificate, in PEM.
    #[arg(long, value_name = "FILE", env = "RIFF_TLS_KEY", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// The authorities in PEM whose certificates clients may show: the one DNS name of such a
    /// certificate is the caller. Tokens go on to work.
    #[arg(
        long,
        value_name = "FILE",
        env = "RIFF_CLIENT_CA",
        requires = "tls_cert"
    )]
    client_ca: Option<PathBuf>,
    /// Speaks HTTP/2 without TLS too, to clients that begin with it: behind a proxy or a mesh.
    #[arg(long, env = "RIFF_H2C", conflicts_with = "tls_cert")]
    h2c: bool,
}

impl Transport {
    /// What the files have, where HTTPS is asked for.
    pub(super) fn tls(&self) -> Result<Option<Tls>, TlsError> {
        let (Some(certificate), Some(key)) = (&self.tls_cert, &self.tls_key) else {
            return Ok(None);
        };
        let tls = Tls::open(certificate, key)?;
        Ok(Some(match &self.client_ca {
            Some(authority) => tls.clients_of(authority)?,
            None => tls,
        }))
    }

    /// Whether certificates name callers.
    pub(super) fn names_callers(&self) -> bool {
        self.client_ca.is_some()
    }

    /// The server with what it speaks.
    pub(super) fn speak<S: State>(&self, server: Server<S>, tls: Option<Tls>) -> Server<S> {
        match tls {
            Some(tls) => server.tls(tls),
            None => server.h2c(self.h2c),
        }
    }
}

/// Who calls, beside those who have a token of the directory.
#[derive(Debug, Args)]
#[command(next_help_heading = "Callers")]
pub(super) struct Callers {
    /// The header in which a proxy in front of the server names the caller. The proxy must remove
    /// it from what it gets, and set it itself.
    #[arg(
        long,
        value_name = "NAME",
        env = "RIFF_CALLER_HEADER",
        requires = "trust",
        value_parser = caller_header
    )]
    caller_header: Option<String>,
    /// The networks of the proxy, as 10.0.0.0/8: from other peers the header means nothing.
    #[arg(
        long,
        value_name = "NETWORK",
        env = "RIFF_TRUST",
        requires = "caller_header",
        value_delimiter = ','
    )]
    trust: Vec<Network>,
}

/// A header that means nothing else.
fn caller_header(name: &str) -> Result<String, String> {
    let name = name.to_ascii_lowercase();
    let token = |b: u8| b.is_ascii_alphanumeric() || b"-_.".contains(&b);
    if name.is_empty() || !name.bytes().all(token) {
        return Err("the name of a header is letters, digits, `-`, `_` and `.`".into());
    }
    let known = ["authorization", "idempotency-key", "host", "content-length"];
    if known.contains(&name.as_str()) || name.starts_with("riff-") {
        return Err(
            "the server reads that header for something else: take one of its own, as \
                    `x-forwarded-user`"
                .into(),
        );
    }
    Ok(name)
}

impl Callers {
    /// The proxy that names callers, if there is one.
    pub(super) fn proxy(&self) -> Option<FromProxy> {
        let header = self.caller_header.as_ref()?;
        Some(FromProxy::new(header, self.trust.iter().copied()))
    }
}

/// What protects the process from its clients.
#[derive(Debug, Args)]
#[command(next_help_heading = "Requests")]
pub(super) struct Requests {
    /// The most connections at a time, open streams included [default: 1024, or a quarter of the
    /// files that the process may open].
    #[arg(long, value_name = "COUNT", env = "RIFF_MOST_CONNECTIONS", value_parser = amount::some)]
    most_connections: Option<usize>,
    /// The most bytes of a request's body [default: 1MiB].
    #[arg(long, value_name = "SIZE", env = "RIFF_MOST_BODY", value_parser = amount::room)]
    most_body: Option<usize>,
    /// How many requests a second a caller may send [default: no such limit]. Beyond them it gets
    /// 429; a retry of a command that is known always gets its reply.
    #[arg(long, value_name = "PER_SECOND", env = "RIFF_RATE",
          value_parser = clap::value_parser!(u32).range(1..))]
    rate: Option<u32>,
    /// How many it may send at once after a silence [default: as many as in ten seconds].
    #[arg(long, value_name = "COUNT", env = "RIFF_BURST", requires = "rate",
          value_parser = clap::value_parser!(u32).range(1..))]
    burst: Option<u32>,
    /// Answers `/metrics` whoever asks; without this it needs a token.
    #[arg(long, env = "RIFF_PUBLIC_METRICS")]
    public_metrics: bool,
}

impl Requests {
    /// The server with these limits.
    pub(super) fn limit<S: State>(&self, mut server: Server<S>) -> Server<S> {
        if let Some(most) = self.most_connections {
            server = server.most_connections(most);
        }
        if let Some(most) = self.most_body {
            server = server.most_body_bytes(most);
        }
        if let Some(rate) = self.rate {
            let burst = self.burst.unwrap_or_else(|| rate.saturating_mul(10));
            server = server.rate(rate, burst);
        }
        server.public_metrics(self.public_metrics)
    }
}

/// When checkpoints are made, and what of the log goes.
#[derive(Debug, Args)]
#[command(next_help_heading = "Log and checkpoints")]
pub(super) struct Checkpoints {
    /// A checkpoint is made after this time, if something was written.
    #[arg(
        long,
        value_name = "TIME",
        env = "RIFF_CHECKPOINT_EVERY",
        default_value = "1h",
        value_parser = amount::time
    )]
    checkpoint_every: Duration,
    /// A checkpoint is made after so many bytes of log.
    #[arg(
        long,
        value_name = "SIZE",
        env = "RIFF_CHECKPOINT_BYTES",
        default_value = "64MiB",
        value_parser = amount::size
    )]
    checkpoint_bytes: u64,
    /// Drops the log before the oldest checkpoint that is kept. It is then no history of all that
    /// ever happened.
    #[arg(long, env = "RIFF_PRUNE_LOG")]
    prune_log: bool,
    /// Starts also when the log has changes that this program does not know: they are passed over,
    /// their calls keep their replies, and no checkpoint is made beyond them.
    #[arg(long, env = "RIFF_SKIP_UNKNOWN_CHANGES")]
    skip_unknown_changes: bool,
}

/// How many calls are remembered, and how long.
#[derive(Debug, Args)]
#[command(next_help_heading = "Memory of calls")]
pub(super) struct Memory {
    /// How long a call is remembered [default: 24h, as link.toml says].
    #[arg(long, value_name = "TIME", env = "RIFF_KEEP", value_parser = amount::time)]
    keep: Option<Duration>,
    /// The most replies that are kept for a caller [default: 1024, as link.toml says].
    #[arg(long, value_name = "COUNT", env = "RIFF_KEEP_REPLIES")]
    keep_replies: Option<u32>,
    /// The most bytes of replies that are kept for a caller [default: 16MiB].
    #[arg(
        long,
        value_name = "SIZE",
        env = "RIFF_KEEP_REPLY_BYTES",
        value_parser = amount::size
    )]
    keep_reply_bytes: Option<u64>,
    /// The most call IDs that are remembered for a caller without their replies [default: 65536].
    #[arg(long, value_name = "COUNT", env = "RIFF_KEEP_IDS")]
    keep_ids: Option<u32>,
    /// The most calls of a caller with an Idempotency-Key; beyond them it gets 429 [default:
    /// 16384].
    #[arg(long, value_name = "COUNT", env = "RIFF_KEEP_KEYS")]
    keep_keys: Option<u32>,
    /// The most bytes for the calls of all callers [default: 1GiB].
    #[arg(
        long,
        value_name = "SIZE",
        env = "RIFF_KEEP_BYTES",
        value_parser = amount::size
    )]
    keep_bytes: Option<u64>,
}

impl Options {
    /// What of it is for the engine.
    pub(super) fn engine(&self) -> EngineOptions {
        let of = &self.checkpoints;
        EngineOptions {
            calls: self.memory.limits(),
            checkpoint_every_bytes: of.checkpoint_bytes,
            checkpoint_every: of.checkpoint_every,
            prune_log: of.prune_log,
            skip_unknown_changes: of.skip_unknown_changes,
            ..EngineOptions::default()
        }
    }
}

impl Memory {
    fn limits(&self) -> CallLimits {
        let standard = CallLimits::of(&RIFF.limits);
        CallLimits {
            keep: self.keep.unwrap_or(standard.keep),
            most_kept: self.keep_replies.unwrap_or(standard.most_kept),
            most_thin: self.keep_ids.unwrap_or(standard.most_thin),
            most_foreign: self.keep_keys.unwrap_or(standard.most_foreign),
            most_kept_bytes: self.keep_reply_bytes.unwrap_or(standard.most_kept_bytes),
            most_bytes: self.keep_bytes.unwrap_or(standard.most_bytes),
        }
    }
}
