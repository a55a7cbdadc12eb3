//! What a server with an idempotency table does, past the database: axum, who calls by a bearer
//! token, the key, and a fingerprint of the body.

use std::{collections::HashMap, sync::Arc};

use axum::{
    Router,
    body::Bytes,
    extract::State,
    http::{HeaderMap, StatusCode, header::CONTENT_TYPE},
    response::{IntoResponse as _, Response},
    routing::post,
    serve::ListenerExt as _,
};
use sha2::{Digest as _, Sha256};

use super::place;
use crate::app::{Reply, Said};

/// A command as it goes to the database.
pub(crate) struct Call {
    pub(crate) caller: String,
    pub(crate) key: String,
    pub(crate) fingerprint: Vec<u8>,
    pub(crate) said: Said,
}

/// What the database makes of it.
pub(crate) enum Answer {
    /// The reply, of now or of the first run.
    Reply(Vec<u8>),
    /// The key belongs to another body.
    Reused,
    /// Another try of it runs now.
    Conflict,
}

/// The database: one transaction a call, which looks up the key, runs the command, and keeps key,
/// fingerprint and reply.
pub(crate) trait Table: Send + Sync + 'static {
    /// Returns when the transaction is durable.
    fn say(&self, call: Call) -> impl Future<Output = Result<Answer, String>> + Send;
}

struct Server<T> {
    table: T,
    /// Who has which token.
    callers: HashMap<String, String>,
}

/// Serves the table on a free port.
pub(crate) async fn serve<T: Table>(table: T) -> Result<std::net::SocketAddr, String> {
    let (listener, at) = place::listener().await?;
    // As ours does. A socket that does not take the option works without it.
    let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
    let callers = (0..16).map(|n| (format!("Bearer token-{n}"), format!("caller-{n}")));
    let server = Server {
        table,
        callers: callers.collect(),
    };
    let router = Router::new()
        .route("/v1/say", post(say::<T>))
        .with_state(Arc::new(server));
    tokio::spawn(async move {
        if let Err(error) = axum::serve(listener, router).await {
            eprintln!("a server with a table ended: {error}");
        }
    });
    Ok(at)
}

async fn say<T: Table>(
    State(server): State<Arc<Server<T>>>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let caller = text("authorization").and_then(|token| server.callers.get(token));
    let Some(caller) = caller.cloned() else {
        return StatusCode::UNAUTHORIZED.into_response();
    };
    let Some(key) = text("idempotency-key").map(str::to_owned) else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    let Ok(said) = serde_json::from_slice(&body) else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    let call = Call {
        caller,
        key,
        fingerprint: Sha256::digest(&body).to_vec(),
        said,
    };
    match server.table.say(call).await {
        Ok(Answer::Reply(reply)) => ([(CONTENT_TYPE, "application/json")], reply).into_response(),
        Ok(Answer::Reused) => StatusCode::UNPROCESSABLE_ENTITY.into_response(),
        Ok(Answer::Conflict) => StatusCode::CONFLICT.into_response(),
        Err(why) => (StatusCode::INTERNAL_SERVER_ERROR, why).into_response(),
    }
}

/// The reply to the message of this number in its thread, as it is kept.
pub(crate) fn reply(number: i64) -> Result<Vec<u8>, String> {
    let number = u64::try_from(number).map_err(|error| error.to_string())?;
    serde_json::to_vec(&Reply::to(number)).map_err(|error| error.to_string())
}

/// The kept reply, if it is one to this very call.
pub(crate) fn kept(call: &Call, fingerprint: &[u8], reply: Vec<u8>) -> Answer {
    if fingerprint == call.fingerprint {
        Answer::Reply(reply)
    } else {
        Answer::Reused
    }
}
