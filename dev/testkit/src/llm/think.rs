//! A model that goes through the THINK steps: recognizes the requested step, and answers without
//! claims.

use std::collections::VecDeque;
use std::sync::Mutex;

use serde_json::{Value, json};

use super::{Recorded, Server, Turn};

/// A conclusion of a step that follows the schema and makes no claim.
pub fn plain(step: &str) -> Value {
    match step {
        "think1" => {
            json!({ "problem_type": "none", "also": [], "findings": [], "evidence": [], "text": "class" })
        }
        "think2" => json!({ "modules": [], "text": "code" }),
        "think3" => json!({ "causes": [], "text": "causes" }),
        "think4" => json!({ "needs_files": false, "files": [], "lookups": [], "basis": "enough" }),
        "think5" => {
            json!({ "recommendations": [], "additional": [], "text": "advice", "answer": { "text": "", "evidence": [] } })
        }
        _ => json!({ "hypotheses": [], "text": "none" }),
    }
}

/// The plain conclusion of the requested step, or the conclusions of THINK 1–3 together.
pub fn agreeable(request: &Recorded) -> Value {
    if is_merged(request) {
        json!({ "think1": plain("think1"), "think2": plain("think2"), "think3": plain("think3") })
    } else {
        plain(step_of(request))
    }
}

/// The step that a request asks for, by the heading of its template; the last counts.
pub fn step_of(request: &Recorded) -> &'static str {
    let prompt = request.prompt();
    let steps = [
        ("think1", "[THINK 1] "),
        ("think2", "[THINK 2] "),
        ("think3", "[THINK 3] "),
        ("think4", "[THINK 4] "),
        ("think5", "[THINK 5] "),
        ("hypotheses", "[Hypotheses]\n"),
        ("hypotheses", "[假设推理]\n"),
    ];
    let last = steps.into_iter().max_by_key(|(_, mark)| prompt.rfind(mark));
    last.map_or("", |(step, _)| step)
}

/// Whether a request asks for THINK 1–3 together.
pub fn is_merged(request: &Recorded) -> bool {
    let asked = request.conversation();
    asked.contains("[THINK 1] ") && asked.contains("[THINK 3] ")
}

/// THINK 4 by every tool, with the names that were shown.
pub fn curious(request: &Recorded) -> Turn {
    if step_of(request) != "think4" {
        return Turn::json(&agreeable(request));
    }
    let results = request.tool_results();
    let listed = results.first().map(String::as_str).unwrap_or_default();
    let file = |line: &str| line.split(" (").next().unwrap_or_default().to_owned();
    let files: Vec<Value> = listed
        .lines()
        .filter(|line| line.contains(" ("))
        .map(|line| json!({ "file": file(line), "reason": "to see" }))
        .collect();
    let part = |from: usize| {
        let files: Vec<&Value> = files.iter().skip(from).take(3).collect();
        ("read_files", json!({ "files": files }))
    };
    let look_up = |tool: &'static str, words: &str| (tool, json!({ "argument": words }));
    match results.len() {
        0 => Turn::tool("list_files", &json!({})),
        1..6 => Turn::tools(&[
            part(0),
            look_up("analyze_script", ""),
            look_up("table_metadata", ""),
            look_up("explain_codegen", ""),
            look_up("search_experience", "user_003 name_004"),
        ]),
        6 => Turn::tools(&[part(3)]),
        7 => Turn::tools(&[part(6)]),
        8 => Turn::tools(&[part(9)]),
        _ => {
            let check = json!({ "sufficient": true, "experiences": [], "basis": "all seen" });
            Turn::tool("submit_check", &check)
        }
    }
}

impl Server {
    /// A server that concludes every step without claiming anything.
    pub fn agreeing() -> Server {
        Server::amending(|_, _| {})
    }

    /// The same, with answers that `change` has changed.
    pub fn amending(change: impl Fn(&Recorded, &mut Value) + Send + Sync + 'static) -> Server {
        Server::start([]).rule(move |request| {
            let mut answer = agreeable(request);
            change(request, &mut answer);
            Some(Turn::json(&answer))
        })
    }

    /// The same, except for the requests that `turn` answers.
    pub fn agreeing_unless(
        turn: impl Fn(&Recorded) -> Option<Turn> + Send + Sync + 'static,
    ) -> Server {
        let agree = |request: &Recorded| Turn::json(&agreeable(request));
        Server::start([]).rule(move |request| turn(request).or_else(|| Some(agree(request))))
    }

    /// The same after its first answers, which are these turns.
    pub fn agreeing_after(turns: impl IntoIterator<Item = Turn>) -> Server {
        let first = Mutex::new(turns.into_iter().collect::<VecDeque<_>>());
        Server::agreeing_unless(move |_| first.lock().ok()?.pop_front())
    }

    /// How many requests asked for a step.
    pub fn asked_for(&self, step: &str) -> usize {
        let requests = self.requests();
        requests.iter().filter(|r| step_of(r) == step).count()
    }

    /// The last request for a step.
    pub fn last_for(&self, step: &str) -> Option<Recorded> {
        let mut requests = self.requests().into_iter();
        requests.rfind(|r| step_of(r) == step)
    }
}
