//! Whether the information suffices: the program's and the model's judgment, also if they disagree.

use agent::Request;
use report::Language;
use serde_json::json;
use testkit::llm::think::step_of;
use testkit::llm::{Recorded, Server, Turn};

use crate::support::*;

/// Analyzes a job with a model that judges like this.
async fn judged(
    case: &str,
    language: Language,
    sufficient: bool,
    basis: &'static str,
) -> (Outcome, Server) {
    let missing = if sufficient {
        json!([])
    } else {
        json!(["GhostAspect"])
    };
    let server = Server::agreeing_unless(move |request: &Recorded| {
        let check = json!({ "sufficient": sufficient, "missing": missing, "experiences": [], "basis": basis });
        (step_of(request) == "think4").then(|| Turn::tool("submit_check", &check))
    });
    let request = Request {
        language: Some(language),
        ..about(case)
    };
    (ask(&server, &request).await, server)
}

#[tokio::test]
async fn section_5_6_program_and_model_judge_apart_where_they_disagree() {
    for (language, doubt, trust, by) in [
        (
            Language::En,
            "Nobody says who owns the hot key.",
            "The script says it all.",
            [
                "- judged by the program: ",
                "- judged by the model: ",
                "not sufficient",
                "sufficient",
            ],
        ),
        (
            Language::Zh,
            "没有人知道热点键属于谁。",
            "脚本已经说明一切。",
            ["- 程序判断：信息", "- 模型判断：信息", "不足", "充足"],
        ),
    ] {
        for (case, enough, basis) in [
            ("join-hot-key-skew", true, doubt),
            ("withheld-join-hot-key-skew", false, trust),
        ] {
            let (report, server) = judged(case, language, !enough, basis).await;
            let think4 = &report.step("think4").conclusion;
            assert_eq!(think4["sufficient"], enough, "{case}: {think4}");
            assert_eq!(think4["model"]["sufficient"], !enough, "{case}: {think4}");
            assert_eq!(think4["model"]["basis"], basis);
            let prompt = server.last_for("think5").expect("a request").prompt();
            let line = |start: &str| {
                let mut lines = prompt.lines().filter(|line| line.starts_with(start));
                let first = lines
                    .next()
                    .unwrap_or_else(|| panic!("no {start} in {prompt}"));
                assert_eq!(lines.next(), None, "said once");
                first.strip_prefix(start).expect("its start")
            };
            let [program, model] = [line(by[0]), line(by[1])];
            let said = |enough: bool| by[2 + usize::from(enough)];
            assert!(program.starts_with(said(enough)), "{program}");
            assert!(model.starts_with(said(!enough)), "{model}");
            // The model's reason is in its own line only.
            assert!(
                model.contains(basis.trim_end_matches(['.', '。'])),
                "{model}"
            );
            assert_eq!(
                prompt.matches(basis.trim_end_matches(['.', '。'])).count(),
                1
            );
            assert_eq!(model.contains("GhostAspect"), enough, "{model}");
            assert!(!program.contains("GhostAspect"), "{program}");
        }
    }
}
