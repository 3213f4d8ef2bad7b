//! Connections of the servers: a bounded number at a time, until the server is stopped.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use report::say;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::error::{Error, ErrorKind, Result};
use crate::monitor::Monitor;

/// Connections at the same time; a client may have one per request.
const MAX_CONNECTIONS: usize = 256;

/// How long a client may take to send the head of a request.
pub(crate) const HEAD_TIME: Duration = Duration::from_secs(30);

pub(crate) struct Listener {
    socket: TcpListener,
    address: SocketAddr,
}

/// # Errors
/// If the address is taken or not of this machine.
pub(crate) async fn bind(address: SocketAddr) -> Result<Listener> {
    let failed = |e: std::io::Error| {
        Error::from_source(ErrorKind::Other, &e).hint(say!(
            "`{address}` 必须空闲；端口 0 表示任选空闲端口",
            "`{address}` must be free; port 0 takes a free one",
            address = address.to_string()
        ))
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
        open: impl Fn(TcpStream) -> F,
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
                    let connection = open(stream);
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
