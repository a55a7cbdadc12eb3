//! A server of a few lines: it says what it was asked, and tells repeats and events on demand.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::Duration,
};

use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};

/// What the server was asked, in order: the target and the call ID.
pub(crate) type Asked = Arc<Mutex<Vec<(String, Option<String>)>>>;

pub(crate) struct Upstream {
    pub(crate) address: SocketAddr,
    pub(crate) asked: Asked,
    running: JoinHandle<()>,
}

impl Drop for Upstream {
    fn drop(&mut self) {
        self.running.abort();
    }
}

impl Upstream {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Asked::default();
        let running = tokio::spawn(run(listener, Arc::clone(&asked)));
        Self {
            address,
            asked,
            running,
        }
    }

    pub(crate) fn targets(&self) -> Vec<String> {
        self.asked
            .lock()
            .unwrap()
            .iter()
            .map(|(target, _)| target.clone())
            .collect()
    }
}

async fn run(listener: TcpListener, asked: Asked) {
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        let asked = Arc::clone(&asked);
        tokio::spawn(async move {
            // A client that breaks off is what these tests are about.
            let _ = answer(stream, &asked).await;
        });
    }
}

async fn answer(stream: TcpStream, asked: &Asked) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream);
    loop {
        let mut first = String::new();
        if stream.read_line(&mut first).await? == 0 {
            return Ok(());
        }
        let (mut length, mut call) = (0, None);
        loop {
            let mut line = String::new();
            stream.read_line(&mut line).await?;
            match line.trim().split_once(": ") {
                None => break,
                Some(("content-length", value)) => length = value.parse().unwrap(),
                Some(("riff-call", value)) => call = Some(value.to_owned()),
                Some(_) => {}
            }
        }
        let mut body = vec![0; length];
        stream.read_exact(&mut body).await?;
        let target = first.split(' ').nth(1).unwrap().to_owned();
        asked.lock().unwrap().push((target.clone(), call));
        if target.starts_with("/events") {
            return events(stream.into_inner()).await;
        }
        let repeat = if target.starts_with("/repeat") {
            "riff-repeat: 1\r\n"
        } else {
            ""
        };
        let text = format!("{target} {}", String::from_utf8_lossy(&body));
        let reply = format!(
            "HTTP/1.1 200 OK\r\nriff-build: 1.0 t - -\r\n{repeat}content-length: {}\r\n\r\n{text}",
            text.len()
        );
        stream.write_all(reply.as_bytes()).await?;
    }
}

/// One event each 20 ms, 100 in all, each in a chunk of its own.
async fn events(mut stream: TcpStream) -> std::io::Result<()> {
    let head = "HTTP/1.1 200 OK\r\nriff-build: 1.0 t - -\r\ncontent-type: text/event-stream\r\n\
                transfer-encoding: chunked\r\n\r\n9\r\n: ready\n\n\r\n";
    stream.write_all(head.as_bytes()).await?;
    for number in 100..200 {
        let event = format!("data: {number}\n\n");
        let chunk = format!("{:x}\r\n{event}\r\n", event.len());
        stream.write_all(chunk.as_bytes()).await?;
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    stream.write_all(b"0\r\n\r\n").await
}
