//! Answers of a model, up to the report: parts separated by a line `=====` answer one request each. A part that starts with
//! `!tool NAME` calls that tool with the rest as arguments; a part that starts with `!cut` reached the token limit. After the last
//! part the model is gone and the rules continue.
//!
//! No answer changes the measurements.

#![no_main]

use std::collections::VecDeque;
use std::sync::{Arc, LazyLock, Mutex};

use agent::model::LlmReasoner;
use agent::offline::Offline;
use agent::{Depth, Reasoner, Request, Services};
use futures::future::{BoxFuture, FutureExt};
use libfuzzer_sys::fuzz_target;
use llm::transport::{CallError, Chat, Finish, Piece, Reply, Transport};
use llm::{LlmOptions, Model, Profile, Provider, ToolCall, ToolCalls};
use report::{Finding, Language, Report};
use serde_json::{Value, json};

static CATALOGUE: LazyLock<job::Catalogue> = LazyLock::new(job::Catalogue::builtin);

/// The report of the rules alone.
static MEASURED: LazyLock<Report> = LazyLock::new(|| analyze(Box::new(Offline)));

/// Answers from a list.
struct Scripted(Mutex<VecDeque<String>>);

impl Transport for Scripted {
    fn send<'a>(
        &'a self,
        chat: &'a Chat,
        pieces: &'a mut (dyn FnMut(Piece<'_>) + Send),
    ) -> BoxFuture<'a, Result<Reply, CallError>> {
        let part = self.0.lock().expect("no panic held it").pop_front();
        let reply = match part {
            Some(part) => Ok(reply(&part, !chat.tools.is_empty())),
            None => Err(CallError::Permanent {
                reason: "gone".to_owned(),
                hint: String::new(),
            }),
        };
        if let Ok(reply) = &reply {
            pieces(Piece::Text(&reply.text));
        }
        async move { reply }.boxed()
    }
}

fn reply(part: &str, has_tools: bool) -> Reply {
    let (first, rest) = part.split_once('\n').unwrap_or((part, ""));
    let calls = first
        .strip_prefix("!tool ")
        .filter(|_| has_tools)
        .map(|name| ToolCalls {
            message: json!({"role": "assistant"}),
            calls: vec![ToolCall {
                id: "c1".to_owned(),
                name: name.to_owned(),
                arguments: serde_json::from_str(rest).unwrap_or_else(|_| Value::from(rest)),
            }],
        });
    let cut = first == "!cut";
    let text = match (&calls, cut) {
        (Some(_), _) => "",
        (None, true) => rest,
        (None, false) => part,
    };
    Reply {
        text: text.to_owned(),
        thoughts: String::new(),
        finish: if cut { Finish::Length } else { Finish::Done },
        tokens_in: None,
        tokens_out: None,
        calls,
    }
}

fn analyze(reasoner: Box<dyn Reasoner>) -> Report {
    let request = Request {
        job: concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../cases/join-hot-key-skew/job"
        )
        .into(),
        question: Some("why is SV2_Join slow?".to_owned()),
        language: Some(Language::En),
        depth: Depth::Normal,
        ..Request::default()
    };
    let settings = diagnosis::Settings::default();
    let services = Services {
        fallbacks: vec![Box::new(Offline)],
        ..Services::new(&CATALOGUE, &settings, reasoner)
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime");
    let mut observer = agent::Silent;
    let analysis = agent::analyze(&request, &services, &mut observer);
    runtime.block_on(analysis).expect("a report").report
}

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let parts = text.split("=====\n").map(str::to_owned).collect();
    let transport = Arc::new(Scripted(Mutex::new(parts)));
    let profile = Profile::new(Provider::Compatible, "scripted");
    let model = Model::new(profile, transport);
    let report = analyze(Box::new(LlmReasoner::new(model, LlmOptions::default())));

    assert_eq!(report.verdict, MEASURED.verdict);
    for finding in &MEASURED.findings {
        let kept = report.findings.iter().any(|f| {
            let saved = |f: &Finding| f.impact.as_ref().map(|i| i.seconds_saved);
            f.cause == finding.cause && saved(f) == saved(finding)
        });
        assert!(kept, "{} is gone", finding.cause);
    }
    let written = serde_json::to_string(&report).expect("JSON");
    serde_json::from_str::<Report>(&written).expect("a report");
});
