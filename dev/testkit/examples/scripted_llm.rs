//! A scripted LLM as a program, for scripts that count and time calls: `scripted_llm [DELAY_MS]`.
//!
//! Prints its address, then one line per request. It recommends the first suggestion that it is shown.

use std::io::Write;
use std::time::Duration;

use serde_json::json;
use testkit::llm::think::{agreeable, step_of};
use testkit::llm::{Recorded, Server, Turn};

fn main() {
    let delay = std::env::args().nth(1);
    let delay = delay.and_then(|ms| ms.parse().ok()).unwrap_or(500);
    let server = Server::start([]).rule(move |request| {
        let turn = Turn::json(&answer(request));
        let mut out = std::io::stdout().lock();
        // the counting process may be gone
        let _ = writeln!(out, "{}", step_of(request)).and_then(|()| out.flush());
        Some(turn.delay(Duration::from_millis(delay)).usage(2_000, 500))
    });
    {
        let mut out = std::io::stdout().lock();
        let _ = writeln!(out, "{}", server.url()).and_then(|()| out.flush());
    }
    loop {
        std::thread::park();
    }
}

fn answer(request: &Recorded) -> serde_json::Value {
    let mut answer = agreeable(request);
    let prompt = request.prompt();
    if step_of(request) == "think5" && prompt.contains("\nS1 (") {
        let why = "it takes effect where the time is lost";
        answer["recommendations"] = json!([{ "suggestion": "S1", "why": why, "trade_offs": "", "evidence": [], "experiences": [] }]);
    }
    answer
}
