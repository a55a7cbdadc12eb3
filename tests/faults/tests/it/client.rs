//! A client that hides nothing of what its socket tells.

use std::{io, net::SocketAddr, time::Duration};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};

/// What a client saw of one request.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Saw {
    /// These bytes, then the end of the connection.
    End(String),
    /// These bytes, then an error of the socket.
    Broken(String, io::ErrorKind),
    /// These bytes, and then nothing within the time.
    Silence(String),
}

pub(crate) fn request(method: &str, target: &str, headers: &str, body: &str) -> String {
    format!(
        "{method} {target} HTTP/1.1\r\nhost: test\r\n{headers}content-length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// Sends one request on a connection of its own and reads up to the end of the connection.
pub(crate) async fn send(to: SocketAddr, request: &str) -> io::Result<Saw> {
    let mut stream = TcpStream::connect(to).await?;
    stream.write_all(request.as_bytes()).await?;
    Ok(read(&mut stream, Duration::from_secs(10)).await)
}

/// Reads up to the end, or until nothing has come for so long.
pub(crate) async fn read(stream: &mut TcpStream, patience: Duration) -> Saw {
    let mut bytes = Vec::new();
    loop {
        match timeout(patience, stream.read_buf(&mut bytes)).await {
            Err(_) => return Saw::Silence(text(&bytes)),
            Ok(Ok(0)) => return Saw::End(text(&bytes)),
            Ok(Ok(_)) => {}
            Ok(Err(error)) => return Saw::Broken(text(&bytes), error.kind()),
        }
    }
}

/// Sends a request and reads its whole reply, which has a content-length.
pub(crate) async fn reply(stream: &mut TcpStream, request: &str) -> String {
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut bytes = Vec::new();
    loop {
        let more = timeout(Duration::from_secs(10), stream.read_buf(&mut bytes)).await;
        assert!(
            more.unwrap().unwrap() > 0,
            "no whole reply: {}",
            text(&bytes)
        );
        let so_far = text(&bytes);
        let Some((head, body)) = so_far.split_once("\r\n\r\n") else {
            continue;
        };
        let length = head.split_once("content-length: ").unwrap().1;
        if body.len() == length.lines().next().unwrap().parse().unwrap() {
            return so_far;
        }
    }
}

/// The reply to one request on a connection of its own.
pub(crate) async fn reply_to(to: SocketAddr, request: &str) -> String {
    reply(&mut TcpStream::connect(to).await.unwrap(), request).await
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
