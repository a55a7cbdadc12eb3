//! Counts the connections of one HTTP client, apart from it because it is a layer of its connector.
//!
//! A client that has made no connection cannot have sent anything. This is how a try that our
//! own timer ends inside its connect is known as never sent; the library's errors do not say it.

use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll},
};

use tower_layer::Layer;
use tower_service::Service;

/// How many connections a client has made. Clones share the count.
#[derive(Debug, Clone, Default)]
pub(super) struct Count(Arc<AtomicU64>);

impl Count {
    pub(super) fn read(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }
}

impl<S> Layer<S> for Count {
    type Service = Counted<S>;

    fn layer(&self, connector: S) -> Counted<S> {
        Counted {
            connector,
            count: self.clone(),
        }
    }
}

/// A connector that counts what it connects, before the client sees the connection.
#[derive(Debug, Clone)]
pub(super) struct Counted<S> {
    connector: S,
    count: Count,
}

impl<S, R> Service<R> for Counted<S>
where
    S: Service<R>,
    S::Future: Send + 'static,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<S::Response, S::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.connector.poll_ready(context)
    }

    fn call(&mut self, request: R) -> Self::Future {
        let connect = self.connector.call(request);
        let count = self.count.clone();
        Box::pin(async move {
            let connection = connect.await?;
            count.0.fetch_add(1, Ordering::Release);
            Ok(connection)
        })
    }
}
