//! What tracing sees of a call.

use std::{
    future::IntoFuture as _,
    io,
    sync::{Arc, Mutex},
};

use serde_json::Value;
use tracing_subscriber::fmt::format::FmtSpan;

use crate::{
    fixture::{api, claim, soon},
    server::{Server, Step, yes},
};

/// Lines that are kept.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn a_call_is_a_span_with_one_for_each_try_and_has_no_secret_in_it() {
    let lines = Lines::default();
    let writer = lines.clone();
    let subscriber = tracing_subscriber::fmt()
        .json()
        .with_span_events(FmtSpan::CLOSE)
        .with_writer(move || writer.clone())
        .finish();
    let guard = tracing::subscriber::set_default(subscriber);
    let server = Server::new(|seen| match seen.number {
        0 => vec![Step::Close],
        _ => yes("7"),
    })
    .await;
    let api = api(&server.base());
    let call = claim(&api);
    let id = call.id().to_string();
    assert_eq!(soon(call.into_future()).await, Ok(7));
    drop(guard);
    let text = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
    let spans: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["span"].clone())
        .collect();
    let of =
        |name: &str| -> Vec<&Value> { spans.iter().filter(|span| span["name"] == name).collect() };
    let (calls, tries) = (of("link.call"), of("link.try"));
    assert_eq!((calls.len(), tries.len()), (1, 2), "{text}");
    assert_eq!(calls[0]["link.route"], "claim");
    assert_eq!(calls[0]["link.call"], id);
    assert_eq!(calls[0]["link.tries"], 2);
    assert_eq!(calls[0]["link.outcome"], "reply");
    assert_eq!(tries[0]["error.type"], "cut");
    assert_eq!(tries[1]["http.response.status_code"], 200);
    assert_eq!(tries[1]["http.request.resend_count"], 1);
    assert_eq!(tries[1]["url.template"], "/v1/items/{item}/claim");
    assert!(!text.contains("token") && !text.contains("mine"), "{text}");
}
