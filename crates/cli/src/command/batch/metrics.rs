//! Counters of a running batch in the text format of Prometheus.

use std::convert::Infallible;
use std::fmt::Write;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use batch::Progress;
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use server::{ErrorKind, Explain, Result};
use tokio::net::TcpListener;

/// How long a client may take to send its request.
const PATIENCE: Duration = Duration::from_secs(10);

/// Serves `/metrics` for as long as the runtime lives. Returns the address with its actual port.
pub(super) async fn serve(
    address: SocketAddr,
    progress: Arc<Mutex<Progress>>,
) -> Result<SocketAddr> {
    let hint = report::say!(
        "请为 --metrics 给出空闲的地址和端口，例如 127.0.0.1:9464",
        "give a free address and port for --metrics, e.g. 127.0.0.1:9464"
    );
    let listener = TcpListener::bind(address)
        .await
        .explain(ErrorKind::Usage, &hint)?;
    let address = listener.local_addr().explain(ErrorKind::Usage, hint)?;
    tokio::spawn(async move {
        // one client after the other: there is one Prometheus, and it asks every few seconds
        while let Ok((stream, _)) = listener.accept().await {
            let progress = Arc::clone(&progress);
            let answered = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(PATIENCE)
                .keep_alive(false)
                .serve_connection(
                    TokioIo::new(stream),
                    service_fn(move |request| {
                        let answer = answer(&request, &progress);
                        async move { Ok::<_, Infallible>(answer) }
                    }),
                );
            // a client that leaves is its own business
            drop(tokio::time::timeout(PATIENCE, answered).await);
        }
    });
    Ok(address)
}

fn answer(request: &Request<Incoming>, progress: &Mutex<Progress>) -> Response<Full<Bytes>> {
    let is_known = request.uri().path() == "/metrics";
    let text = match is_known {
        true => text(&progress.lock().unwrap_or_else(PoisonError::into_inner)),
        false => "see /metrics\n".to_owned(),
    };
    let mut response = Response::new(Full::from(text));
    if !is_known {
        *response.status_mut() = StatusCode::NOT_FOUND;
    }
    let kind = hyper::header::HeaderValue::from_static("text/plain; version=0.0.4");
    response
        .headers_mut()
        .insert(hyper::header::CONTENT_TYPE, kind);
    response
}

fn text(progress: &Progress) -> String {
    let mut out = String::new();
    let mut metric = |name: &str, kind: &str, help: &str, value: f64| {
        // writing to a string cannot fail
        let _ = write!(
            out,
            "# HELP scopeagent_batch_{name} {help}\n# TYPE scopeagent_batch_{name} {kind}\nscopeagent_batch_{name} {value}\n"
        );
    };
    for (name, help, count) in [
        (
            "done_total",
            "Jobs that this process analyzed.",
            progress.done,
        ),
        (
            "failed_total",
            "Jobs that this process gave up.",
            progress.failed,
        ),
        (
            "known_total",
            "Jobs that had a result, or got one from another process.",
            progress.known,
        ),
        (
            "postponed_total",
            "Attempts that left a job without a result.",
            progress.postponed,
        ),
        (
            "different_total",
            "Results that another process wrote first with other bytes.",
            progress.different,
        ),
    ] {
        metric(name, "counter", help, count as f64);
    }
    if let Some(total) = progress.total {
        metric("jobs", "gauge", "Jobs of this call.", total as f64);
    }
    if let Some(seconds) = progress.seconds_left() {
        metric(
            "left_seconds",
            "gauge",
            "Time that the rest will take at the pace so far.",
            seconds,
        );
    }
    metric(
        "elapsed_seconds",
        "gauge",
        "Time since the start.",
        progress.elapsed().as_secs_f64(),
    );
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_in_the_format_of_prometheus() {
        let mut progress = Progress::new(Some(7), 2);
        progress.failed = 1;
        let text = text(&progress);
        for line in [
            "# TYPE scopeagent_batch_failed_total counter",
            "scopeagent_batch_failed_total 1",
            "scopeagent_batch_known_total 2",
            "scopeagent_batch_jobs 7",
        ] {
            assert!(text.lines().any(|l| l == line), "{line} is not in {text}");
        }
    }
}
