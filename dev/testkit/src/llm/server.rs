//! The server: accepts, records, answers with the next turn or with the rule that fits.

use super::dialect::Dialect;
use super::http;
use super::recorded::Recorded;
use super::reply::{Chunking, Fault, Said, Turn};
use super::rules;
use super::wire::Wire;
use std::collections::VecDeque;
use std::io::{self, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// Bytes per write of an endless body.
const ENDLESS_BLOCK: usize = 64 << 10;

type Test = Box<dyn Fn(&Recorded) -> Option<Turn> + Send + Sync>;

#[derive(Default)]
struct Shared {
    turns: Mutex<VecDeque<Turn>>,
    rules: Mutex<Vec<Test>>,
    requests: Mutex<Vec<Recorded>>,
    stopped: AtomicBool,
    dialect: Mutex<Dialect>,
}

/// A scripted server; it stops when it is dropped.
pub struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server")
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A test that failed while it held the lock must not hide its message behind another one.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Server {
    /// Starts a server that answers with these turns, one per request, and then with status 500.
    ///
    /// # Panics
    ///
    /// If no port of the loopback interface can be bound.
    pub fn start(turns: impl IntoIterator<Item = Turn>) -> Self {
        let listener =
            TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port of the loopback interface");
        let address = listener
            .local_addr()
            .expect("a bound listener has an address");
        let shared = Arc::new(Shared {
            turns: Mutex::new(turns.into_iter().collect()),
            ..Shared::default()
        });
        let serving = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if serving.stopped.load(Ordering::SeqCst) {
                    return;
                }
                let shared = Arc::clone(&serving);
                // A client that hangs up ends its own thread only.
                thread::spawn(move || drop(serve(&shared, &stream)));
            }
        });
        Self { address, shared }
    }

    /// Imitates a provider: its habits, its errors, and what it refuses.
    pub fn speaking(self, dialect: Dialect) -> Self {
        *lock(&self.shared.dialect) = dialect;
        self
    }

    /// Answers every request that `rule` has a turn for; the others get scripted turns.
    pub fn rule(self, rule: impl Fn(&Recorded) -> Option<Turn> + Send + Sync + 'static) -> Self {
        lock(&self.shared.rules).push(Box::new(rule));
        self
    }

    /// Adds turns to the end of the script.
    pub fn push(&self, turns: impl IntoIterator<Item = Turn>) {
        lock(&self.shared.turns).extend(turns);
    }

    /// Base address, with `/v1`.
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Chat requests so far.
    pub fn requests(&self) -> Vec<Recorded> {
        lock(&self.shared.requests).clone()
    }

    /// Turns that are left.
    pub fn left(&self) -> usize {
        lock(&self.shared.turns).len()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::SeqCst);
        // Wakes the thread that waits in `accept`.
        drop(TcpStream::connect_timeout(
            &self.address,
            Duration::from_millis(200),
        ));
    }
}

fn serve(shared: &Shared, stream: &TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let Some(request) = http::read(stream)? else {
        return Ok(());
    };
    if request.path.ends_with("/models") {
        let body =
            r#"{"object":"list","data":[{"id":"scripted","object":"model","owned_by":"testkit"}]}"#;
        return respond(stream, &Turn::raw(200, body), &request, Dialect::Local);
    }
    let dialect = *lock(&shared.dialect);
    if let Some(trouble) = rules::broken(dialect, &request) {
        let response = respond(stream, &Turn::trouble(trouble), &request, dialect);
        lock(&shared.requests).push(request);
        return response;
    }
    let by_rule = lock(&shared.rules).iter().find_map(|rule| rule(&request));
    lock(&shared.requests).push(request.clone());
    let turn = by_rule.or_else(|| lock(&shared.turns).pop_front());
    let turn = turn.unwrap_or_else(|| Turn::error(500, "the script has no turn left"));
    respond(stream, &turn, &request, dialect)
}

fn respond(
    stream: &TcpStream,
    turn: &Turn,
    request: &Recorded,
    dialect: Dialect,
) -> io::Result<()> {
    thread::sleep(turn.delay);
    let wire = Wire::of(&request.path);
    let model = request.body["model"].as_str().unwrap_or("scripted");
    let is_answer = turn.status == 200 && !matches!(turn.said, Said::Raw(_) | Said::Trouble(_));
    if request.streams() && is_answer {
        return respond_in_events(stream, turn, request, &wire, dialect);
    }
    let (status, kind, body, more) = match &turn.said {
        Said::Trouble(trouble) => {
            let refusal = trouble.of(dialect);
            let more: Vec<String> = refusal
                .headers
                .iter()
                .map(|(name, value)| format!("{name}: {value}\r\n"))
                .collect();
            (
                refusal.status,
                dialect.error_type(),
                refusal.body.to_string(),
                more.concat(),
            )
        }
        _ => (
            turn.status,
            "application/json",
            wire.whole(turn, dialect, model),
            String::new(),
        ),
    };
    let mut head = head(status, kind, turn);
    head.push_str(&more);
    if turn.fault == Some(Fault::Endless) {
        (&*stream).write_all(format!("{head}\r\n").as_bytes())?;
        let block = body.repeat(ENDLESS_BLOCK.div_ceil(body.len().max(1)));
        loop {
            (&*stream).write_all(block.as_bytes())?;
        }
    }
    head.push_str(&format!("content-length: {}\r\n\r\n", body.len()));
    (&*stream).write_all(head.as_bytes())?;
    write_body(stream, vec![body.into_bytes()], turn, false).map(drop)
}

fn head(status: u16, kind: &str, turn: &Turn) -> String {
    let mut head =
        format!("HTTP/1.1 {status} Scripted\r\nconnection: close\r\ncontent-type: {kind}\r\n");
    for (name, value) in &turn.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head
}

fn respond_in_events(
    mut stream: &TcpStream,
    turn: &Turn,
    request: &Recorded,
    wire: &Wire,
    dialect: Dialect,
) -> io::Result<()> {
    let model = request.body["model"].as_str().unwrap_or("scripted");
    let mut head = head(200, "text/event-stream", turn);
    head.push_str("transfer-encoding: chunked\r\n\r\n");
    stream.write_all(head.as_bytes())?;
    let with_counts = request.body["stream_options"]["include_usage"]
        .as_bool()
        .unwrap_or(true);
    let frames: Vec<Vec<u8>> = wire
        .frames(turn, dialect, model, with_counts)
        .into_iter()
        .map(String::into_bytes)
        .collect();
    let pieces = match turn.chunking {
        Chunking::Events => frames,
        Chunking::Whole => vec![frames.concat()],
        Chunking::Bytes(n) => frames
            .concat()
            .chunks(n.max(1))
            .map(<[u8]>::to_vec)
            .collect(),
    };
    if write_body(stream, pieces, turn, true)? {
        stream.write_all(b"0\r\n\r\n")?;
        stream.shutdown(Shutdown::Both)?;
    }
    Ok(())
}

/// Writes the pieces with the fault of the turn; returns false if the body was cut.
fn write_body(
    mut stream: &TcpStream,
    pieces: Vec<Vec<u8>>,
    turn: &Turn,
    chunked: bool,
) -> io::Result<bool> {
    let mut sent = 0;
    let mut stalled = false;
    for mut piece in pieces {
        let mut cut = false;
        match &turn.fault {
            Some(Fault::CutAfter(limit) | Fault::ResetAfter(limit))
                if sent + piece.len() >= *limit =>
            {
                piece.truncate(limit.saturating_sub(sent));
                cut = true;
            }
            Some(Fault::StallAfter(limit, pause)) if !stalled && sent + piece.len() >= *limit => {
                let rest = piece.split_off(limit.saturating_sub(sent).min(piece.len()));
                write_piece(stream, &piece, chunked)?;
                sent += piece.len();
                thread::sleep(*pause);
                stalled = true;
                piece = rest;
            }
            _ => {}
        }
        write_piece(stream, &piece, chunked)?;
        sent += piece.len();
        if cut {
            stream.flush()?;
            if matches!(turn.fault, Some(Fault::ResetAfter(_))) {
                // The client must receive the earlier bytes before the reset.
                thread::sleep(Duration::from_millis(20));
                // Without lingering, closing drops the connection with a reset.
                socket2::SockRef::from(stream).set_linger(Some(Duration::ZERO))?;
            } else {
                stream.shutdown(Shutdown::Both)?;
            }
            return Ok(false);
        }
    }
    Ok(true)
}

fn write_piece(mut stream: &TcpStream, piece: &[u8], chunked: bool) -> io::Result<()> {
    if piece.is_empty() {
        return Ok(());
    }
    if !chunked {
        return stream.write_all(piece);
    }
    let mut frame = format!("{:x}\r\n", piece.len()).into_bytes();
    frame.extend_from_slice(piece);
    frame.extend_from_slice(b"\r\n");
    stream.write_all(&frame)?;
    // Lets the client receive the pieces separately; the kernel would join them otherwise.
    thread::sleep(Duration::from_micros(60));
    Ok(())
}
