//! Connections of the servers: a bounded number at a time, until the server is stopped.

use std::io;
use std::net::{Ipv6Addr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use hyper::HeaderMap;
use hyper::header;
use report::say;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::Sleep;
use tokio_util::sync::CancellationToken;

use crate::error::{Error, ErrorKind, Result};
use crate::monitor::Monitor;

/// Connections at the same time; a client may have one per request.
const MAX_CONNECTIONS: usize = 256;

/// How long a client may take to send the head of a request.
pub(crate) const HEAD_TIME: Duration = Duration::from_secs(30);

/// How long a client may take to read any part of an answer.
const READ_TIME: Duration = Duration::from_secs(30);

/// A connection that fails when its client stops reading, so that its place becomes free.
pub(crate) struct Connection {
    stream: TcpStream,
    read_time: Duration,
    /// Set while a write waits for the client.
    stalled: Option<Pin<Box<Sleep>>>,
}

impl Connection {
    fn new(stream: TcpStream, read_time: Duration) -> Connection {
        Connection {
            stream,
            read_time,
            stalled: None,
        }
    }

    /// The result of a write, or an error if writes have waited for too long.
    fn bounded<T>(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.stalled = None;
            return written;
        }
        let time = self.read_time;
        let stalled = self
            .stalled
            .get_or_insert_with(|| Box::pin(tokio::time::sleep(time)));
        ready!(stalled.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.bounded(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.bounded(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

pub(crate) struct Listener {
    socket: TcpListener,
    address: SocketAddr,
}

/// # Errors
/// If the address is taken or not of this machine.
pub(crate) async fn bind(address: SocketAddr) -> Result<Listener> {
    let failed = |e: std::io::Error| {
        let hint = match e.kind() {
            std::io::ErrorKind::PermissionDenied => say!(
                "没有权限使用 `{address}`；请用 1024 及以上的端口",
                "you lack the right to use `{address}`; take a port from 1024 on",
                address = address.to_string()
            ),
            _ => say!(
                "`{address}` 必须空闲；端口 0 表示任选空闲端口",
                "`{address}` must be free; port 0 takes a free one",
                address = address.to_string()
            ),
        };
        Error::from_source(ErrorKind::Other, &e).hint(hint)
    };
    let socket = TcpListener::bind(address).await.map_err(failed)?;
    let address = socket.local_addr().map_err(failed)?;
    Ok(Listener { socket, address })
}

impl Listener {
    /// The address with its real port.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Opens each connection in a separate task.
    pub(crate) async fn serve<F>(
        &self,
        stop: &CancellationToken,
        monitor: &dyn Monitor,
        open: impl Fn(Connection) -> F,
    ) where
        F: Future<Output = ()> + Send + 'static,
    {
        let connections = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        loop {
            // Further connections wait in the system's queue.
            let place = Arc::clone(&connections).acquire_owned();
            let accepted = async { (place.await, self.socket.accept().await) };
            let (place, stream) = tokio::select! {
                () = stop.cancelled() => return,
                accepted = accepted => accepted,
            };
            match stream {
                Ok((stream, _)) => {
                    let connection = open(Connection::new(stream, READ_TIME));
                    tokio::spawn(async move {
                        connection.await;
                        drop(place);
                    });
                }
                Err(error) => {
                    // The peer gave up, or no file handle is left; the next connection may succeed.
                    let error = error.to_string();
                    monitor.remark(&say!("连接失败：{error}", "connection failed: {error}"));
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            }
        }
    }
}

/// The only `Host` of a request, and the name or address in it; `None` if there is anything else to it.
pub(crate) fn host(headers: &HeaderMap) -> Option<(&str, &str)> {
    let mut all = headers.get_all(header::HOST).iter();
    let (Some(host), None) = (all.next(), all.next()) else {
        return None;
    };
    let host = host.to_str().ok()?;
    Some((host, name_of(host)?))
}

/// The name or address in a `Host`; `None` if there is more to it than that and a port.
fn name_of(host: &str) -> Option<&str> {
    let (name, rest) = match host.strip_prefix('[') {
        Some(address) => {
            let (address, rest) = address.split_once(']')?;
            address.parse::<Ipv6Addr>().ok()?;
            (address, rest)
        }
        None => host.split_at(host.find(':').unwrap_or(host.len())),
    };
    let is_port = |port: &str| {
        let digits = !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit());
        digits && port.parse::<u16>().is_ok()
    };
    let is_name = |b: u8| b.is_ascii_alphanumeric() || b"-._:".contains(&b);
    let has_port = rest.is_empty() || rest.strip_prefix(':').is_some_and(is_port);
    (has_port && !name.is_empty() && name.bytes().all(is_name)).then_some(name)
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncWriteExt;

    use super::*;

    #[tokio::test]
    async fn a_client_that_reads_nothing_loses_its_connection() {
        const TIME: Duration = Duration::from_millis(50);
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("bound");
        let address = listener.local_addr().expect("an address");
        let client = TcpStream::connect(address).await.expect("connected");
        let (stream, _) = listener.accept().await.expect("accepted");
        let mut connection = Connection::new(stream, TIME);
        let sent = async {
            loop {
                if let Err(error) = connection.write_all(&[0; 65_536]).await {
                    return error.kind();
                }
            }
        };
        let ended = tokio::time::timeout(Duration::from_secs(20), sent).await;
        assert_eq!(ended.expect("in time"), io::ErrorKind::TimedOut);
        drop(client);
    }

    #[test]
    fn a_host_is_a_name_and_a_port_and_nothing_else() {
        for (host, name) in [
            ("localhost", Some("localhost")),
            ("localhost:8080", Some("localhost")),
            ("127.0.0.1:80", Some("127.0.0.1")),
            ("[::1]:8080", Some("::1")),
            ("[::1]", Some("::1")),
            ("localhost:", None),
            ("localhost:+80", None),
            ("localhost:80:80", None),
            ("localhost:99999", None),
            ("localhost:80@evil.example", None),
            ("[::1]evil.example", None),
            ("[localhost]:80", None),
            ("[::1", None),
            ("local host", None),
            ("user@localhost", None),
            ("", None),
        ] {
            assert_eq!(name_of(host), name, "{host}");
        }
    }

    #[test]
    fn a_request_has_one_host() {
        for (hosts, expected) in [
            (&["localhost:80"][..], Some(("localhost:80", "localhost"))),
            (&["localhost", "evil.example"], None),
            (&["localhost", "localhost"], None),
            (&[], None),
        ] {
            let mut headers = HeaderMap::new();
            for host in hosts {
                headers.append(header::HOST, host.parse().expect("a value"));
            }
            assert_eq!(host(&headers), expected, "{hosts:?}");
        }
    }
}
