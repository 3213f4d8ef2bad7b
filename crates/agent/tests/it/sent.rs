//! Requests to a model about simulated jobs: user code, schema and tools, in the language of the run.

use agent::facts::MeasuredAnswer;
use agent::model::{DryRun, LlmReasoner, Preview, tokens};
use agent::offline::Offline;
use agent::saved::SavedRun;
use agent::{Reasoner, Request, Silent};
use ask::Asked;
use llm::transport::MARK;
use llm::{LlmOptions, Profile, Provider};
use report::{Language, ReasonerKind, Report};
use serde_json::{Value, json};
use testkit::llm::think::{plain, step_of};
use testkit::llm::{Recorded, Server, Turn};

use crate::support::*;

async fn analyzed(
    case: &str,
    reasoner: impl Reasoner + 'static,
    language: Language,
    redact: bool,
) -> Outcome {
    let request = Request {
        language: Some(language),
        hypotheses: true,
        ..about(case)
    };
    let setting = Setting {
        redact,
        ..Setting::with(reasoner)
    };
    run(&request, setting).await
}

/// The prompts for such a model, and the report of the dry run.
async fn dry_run(
    case: &str,
    profile: Profile,
    language: Language,
    redact: bool,
) -> (Vec<Preview>, Report) {
    let dry = DryRun::new(profile);
    let previews = dry.previews();
    let report = analyzed(case, dry, language, redact).await.report;
    let previews = previews.lock().expect("the run is over");
    (previews.clone(), report)
}

/// The prompts for a model with such a context.
async fn previews(
    case: &str,
    context: Option<usize>,
    language: Language,
    redact: bool,
) -> Vec<Preview> {
    let mut profile = Profile::new(Provider::OpenAi, "gpt-4o");
    profile.context_tokens = context;
    dry_run(case, profile, language, redact).await.0
}

/// A profile that points at a server, with a price.
fn priced(server: &Server) -> Profile {
    let mut profile = profile(server);
    profile.price_per_million_in = Some(1.0);
    profile.price_per_million_out = Some(1.0);
    profile
}

/// Asks a server for whole answers.
fn asking(server: &Server) -> LlmReasoner {
    asking_with(&priced(server), LlmOptions::default())
}

fn of_step<'p>(previews: &'p [Preview], step: &str) -> &'p Preview {
    let found = previews.iter().rfind(|p| p.steps == [step]);
    found.expect("a prompt of the step")
}

#[tokio::test]
async fn failing_user_code_is_shown_to_the_steps_that_explain_it() {
    let case = "user-code-failure";
    for (language, heading) in [(Language::En, "\n## Code\n"), (Language::Zh, "\n## 代码\n")] {
        let previews = previews(case, None, language, false).await;
        for step in [
            "think1",
            "think2",
            "think3",
            "think4",
            "think5",
            "hypotheses",
        ] {
            let prompt = &of_step(&previews, step).user;
            let (_, code) = prompt.split_once(heading).expect("a part");
            let (inside, _) = code.split_once(">>>data").expect("a fence");
            let (_, inside) = inside.split_once("<<<data code").expect("a fence");
            assert!(inside.contains("InvoiceLinesScorer"), "{inside}");
            assert!(inside.contains("\n  33  "), "{inside}");
            assert!(inside.contains("Convert.ToInt64(units)"), "{inside}");
            assert!(inside.lines().count() < 20, "{inside}");
        }
    }
}

#[tokio::test]
async fn costly_user_code_is_shown_by_its_loop_over_the_rows() {
    let case = "udo-cpu-bound";
    let previews = previews(case, None, Language::En, false).await;
    let (_, code) = of_step(&previews, "think3")
        .user
        .split_once("\n## Code\n")
        .expect("a part");
    let (inside, _) = code.split_once(">>>data").expect("a fence");
    assert!(inside.contains("foreach (Row"), "{inside}");
    assert!(!inside.contains("thrown at"), "{inside}");
}

#[tokio::test]
async fn a_job_without_user_code_has_no_part_for_it() {
    let previews = previews("queue-wait", None, Language::En, false).await;
    assert!(previews.iter().all(|p| !p.user.contains("## Code")));
}

#[tokio::test]
async fn code_is_shortened_before_it_is_dropped() {
    let case = "user-code-failure";
    let lines = async |context| {
        let previews = previews(case, context, Language::En, false).await;
        let advice = of_step(&previews, "think5");
        let shown = advice.user.contains("Convert.ToInt64(units)");
        (
            advice.user.matches("row[\"").count(),
            shown,
            advice.cuts.join("; "),
        )
    };
    let (whole, _, _) = lines(None).await;
    let (few, shown, cuts) = lines(Some(4_500)).await;
    assert!(shown && few < whole, "{few} of {whole}: {cuts}");
    assert!(
        cuts.contains("code away from the lines that matter"),
        "{cuts}"
    );
    let (none, shown, cuts) = lines(Some(1_000)).await;
    assert!(!shown && none == 0, "{none}: {cuts}");
    assert!(cuts.contains("the code"), "{cuts}");
}

#[tokio::test]
async fn words_of_code_are_masked() {
    let case = "user-code-failure";
    let previews = previews(case, None, Language::En, true).await;
    let prompt = &of_step(&previews, "think2").user;
    assert!(prompt.contains("## Code"), "{prompt}");
    for own in ["InvoiceLinesScorer", "TenantKey", "tenantKey"] {
        assert!(!prompt.contains(own), "{own} in {prompt}");
    }
}

/// An answer to a request: the conclusion of the dry run.
fn concluded(report: &Report, request: &Recorded) -> Turn {
    let step = report.steps.iter().find(|s| s.id == step_of(request));
    let conclusion = &step.expect("a step").conclusion;
    if step_of(request) != "think4" {
        return Turn::json(conclusion);
    }
    let judged = &conclusion["model"];
    let check = json!({
        "sufficient": judged["sufficient"], "missing": judged["missing"], "basis": judged["basis"],
        "experiences": [],
    });
    Turn::tool("submit_check", &check)
}

/// The text of a request with the mark that stands for its own.
fn unmarked(text: &str) -> String {
    let own = text.split("<<<data job ").nth(1);
    let own = own.and_then(|rest| rest.lines().next()).unwrap_or(MARK);
    text.replace(own, MARK)
}

/// Parts of a request apart from the texts: the schema, or the tools.
fn apart(request: &Recorded) -> (Option<Value>, Vec<Value>) {
    let schema = request.body["response_format"]["json_schema"].get("schema");
    let tools = request.body["tools"].as_array();
    let tools = tools.into_iter().flatten().map(|t| t["function"].clone());
    (schema.cloned(), tools.collect())
}

#[tokio::test]
async fn a_dry_run_shows_and_counts_what_a_server_receives() {
    let case = "user-code-failure";
    for (language, redact) in [(Language::Zh, false), (Language::En, true)] {
        let silent = Server::start([]);
        let (previews, report) = dry_run(case, priced(&silent), language, redact).await;
        let server = Server::start([]).rule(move |request| Some(concluded(&report, request)));
        analyzed(case, asking(&server), language, redact).await;
        let requests = server.requests();
        let last = requests.last().map(|r| r.prompt());
        assert_eq!(requests.len(), previews.len(), "{last:?}");
        for preview in &previews {
            let step = &preview.steps;
            let mut asked = requests
                .iter()
                .filter(|r| step.iter().any(|s| s == step_of(r)));
            let request = asked.next().expect("a request");
            let (system, user) = (request.system(), unmarked(&request.conversation()));
            assert!(system == preview.system, "{step:?}: {system}");
            assert!(user == preview.user, "{step:?}: {user}");
            let (schema, tools) = apart(request);
            assert_eq!(schema.is_some(), tools.is_empty(), "{step:?}");
            assert_eq!(schema, preview.schema, "{step:?}");
            let shown = preview.tools.iter().map(
                |t| json!({ "name": t.name, "description": t.description, "parameters": t.schema }),
            );
            for (sent, shown) in tools.iter().zip(shown) {
                for field in ["name", "description", "parameters"] {
                    assert_eq!(sent[field], shown[field], "{step:?}");
                }
            }
            assert_eq!(tools.len(), preview.tools.len());
            let texts = tokens(&system) + tokens(&user);
            let schema = schema.map_or(0, |schema| tokens(&schema.to_string()));
            let of_tools = tools.iter().map(|tool| {
                let text = |field: &str| tool[field].as_str().unwrap_or_default().to_owned();
                let parameters = tool["parameters"].to_string();
                [text("name"), text("description"), parameters]
            });
            let of_tools: usize = of_tools.flatten().map(|text| tokens(&text)).sum();
            assert_eq!(preview.tokens, texts + schema + of_tools, "{step:?}");
            assert!(schema + of_tools > 100, "{step:?}");
            let cost = preview.cost.expect("a price");
            let whole = preview.tokens + preview.tokens_out;
            assert!((cost - whole as f64 * 1e-6).abs() < 1e-9, "{cost}");
        }
    }
}

#[tokio::test]
async fn a_long_text_is_condensed_in_both_languages() {
    let case = "queue-wait";
    for (language, sentence, summed_up) in [
        (Language::En, "The job waits for capacity. ", "summed up"),
        (
            Language::Zh,
            "作业在等待资源，排队占去了大部分时间。",
            "改为摘要",
        ),
    ] {
        for (chars, is_condensed) in [(2_900, false), (3_200, true)] {
            let long: String = sentence.chars().cycle().take(chars).collect();
            let server = Server::start([]).rule(move |request| {
                let mut answer = plain(step_of(request));
                // The second request for the step asks for the summary.
                let messages = request.body["messages"].as_array().map_or(0, Vec::len);
                if step_of(request) == "think1" && messages <= 2 {
                    answer["text"] = long.as_str().into();
                }
                Some(Turn::json(&answer))
            });
            let report = analyzed(case, asking(&server), language, false)
                .await
                .report;
            let step = &report.steps[0];
            assert_eq!(
                step.text.contains("class"),
                is_condensed,
                "{chars} {language:?}"
            );
            let remarks = step.remarks.join("\n");
            assert_eq!(remarks.contains(summed_up), is_condensed, "{remarks}");
        }
    }
}

#[tokio::test]
async fn every_round_keeps_what_it_read_and_found() {
    let case = "join-hot-key-skew";
    for (language, streams) in [
        (Language::Zh, "TripPoints：存储为 "),
        (Language::En, "TripPoints: stored in "),
    ] {
        let report = analyzed(case, Offline, language, false).await.report;
        let step = report.steps.iter().find(|s| s.id == "think4");
        let rounds = &step.expect("THINK 4").conclusion["rounds"];
        let rounds = rounds.as_array().expect("rounds");
        let files = rounds.iter().flat_map(|r| r["files"].as_array());
        let content = |name: &str| {
            let mut files = files.clone().flatten();
            let file = files.find(|f| f["file"] == name).expect("a file");
            file["content"].as_str().unwrap_or_default().to_owned()
        };
        assert!(content("__SStreamInfo__.xml").starts_with(streams));
        assert!(!content("tables.json").starts_with(streams));
        let found = rounds.iter().map(|r| r["key_findings"].as_array());
        let found: Vec<usize> = found.map(|f| f.expect("a list").len()).collect();
        assert!(found[0] > 1, "{found:?} of {rounds:#?}");
        for content in files.flatten().filter_map(|f| f["content"].as_str()) {
            assert!(
                !content.contains(":;") && !content.contains("：；"),
                "{content}"
            );
        }
    }
}

#[tokio::test]
async fn a_question_about_a_saved_run_sees_its_code_unless_names_are_masked() {
    let case = "user-code-failure";
    let outcome = analyzed(case, Offline, Language::En, false).await;
    for redact in [false, true] {
        let saved = SavedRun {
            report: &outcome.report,
            question: Some(("why did it fail?", MeasuredAnswer::default())),
            turns: Vec::new(),
            errors: vec!["E_USER: bad row 4294967311 of Kunde".to_owned()],
            stages: Vec::new(),
            tables: Vec::new(),
            script: None,
            code: outcome.summary.code.clone(),
            names: Vec::new(),
            redact,
        };
        let dry = DryRun::new(Profile::new(Provider::OpenAi, "gpt-4o"));
        let previews = dry.previews();
        let setting = Setting {
            redact,
            ..Setting::with(dry)
        };
        let replied = agent::reply(&saved.input(), &services(setting), &mut Silent).await;
        replied.expect("an answer");
        let previews = previews.lock().expect("it is over");
        let prompt = &of_step(&previews, "answer").user;
        assert_eq!(
            prompt.contains("Convert.ToInt64(units)"),
            !redact,
            "{prompt}"
        );
        for word in ["4294967311", "Kunde"] {
            assert_eq!(prompt.contains(word), !redact, "{word}: {prompt}");
        }
    }
}

/// The prompt of a question about a saved run.
async fn asked(
    outcome: &Outcome,
    profile: Profile,
    turns: &[runs::store::Turn],
    redact: bool,
) -> Preview {
    let run = Asked::new(&outcome.report, &outcome.summary, &|| None, &[]);
    let measured = ask::answer("why is it slow?", &[], &run);
    let input = ask::input("why is it slow?", measured, turns, &run, redact);
    let dry = DryRun::new(profile);
    let previews = dry.previews();
    let setting = Setting {
        redact,
        ..Setting::with(dry)
    };
    let replied = agent::reply(&input, &services(setting), &mut Silent).await;
    replied.expect("an answer");
    let previews = previews.lock().expect("it is over");
    of_step(&previews, "answer").clone()
}

#[tokio::test]
async fn a_question_about_a_saved_run_sees_why_it_failed_and_what_was_ruled_out() {
    let profile = || Profile::new(Provider::OpenAi, "gpt-4o");
    let failed = analyzed("user-code-failure", Offline, Language::En, false).await;
    let error = "error: E_RUNTIME_USER_UNHANDLED_EXCEPTION: ";
    let prompt = asked(&failed, profile(), &[], false).await.user;
    assert!(prompt.contains(error), "{prompt}");
    let healthy = analyzed("healthy", Offline, Language::En, false).await;
    let prompt = asked(&healthy, profile(), &[], false).await.user;
    assert!(prompt.contains("queue.wait"), "{prompt}");
    for end in ["failure.user_code", "failure.compile", "failure.limit"] {
        assert!(!prompt.contains(end), "{end}: {prompt}");
    }
}

#[tokio::test]
async fn what_an_earlier_answer_cites_stays_in_a_small_context() {
    let outcome = analyzed("user-code-failure", Offline, Language::En, false).await;
    let cited = outcome.report.findings[0]
        .evidence
        .last()
        .expect("evidence");
    let turn = runs::store::Turn {
        question: "which vertex?".to_owned(),
        text: format!("One of the stage [{cited}]."),
        evidence: outcome
            .report
            .evidence_of(std::slice::from_ref(cited))
            .cloned()
            .collect(),
        reasoner: ReasonerKind::Llm,
        created_at: "2026-11-23T00:00:00Z".to_owned(),
    };
    let mut profile = Profile::new(Provider::OpenAi, "gpt-4o");
    profile.context_tokens = Some(1_000);
    let Preview { user, cuts, .. } = asked(&outcome, profile, &[turn], false).await;
    assert!(cuts.iter().any(|cut| cut == "minor evidence"), "{cuts:?}");
    assert!(user.contains(&format!("\n{cited} ")), "{user}");
}

#[tokio::test]
async fn advice_sees_what_is_missing_and_what_it_would_decide() {
    for (language, decides, rounds) in [
        (Language::En, "Needed to check for ", "rounds so far"),
        (Language::Zh, "补齐后可判断：", "已进行"),
    ] {
        let case = "withheld-join-hot-key-skew";
        let previews = previews(case, None, language, false).await;
        let advice = &of_step(&previews, "think5").user;
        assert!(advice.contains(decides), "{advice}");
        assert!(
            !advice.contains(rounds),
            "only THINK 4 asks for files: {advice}"
        );
    }
}

#[tokio::test]
async fn a_stage_that_never_ran_is_said_not_to_have_run() {
    for (language, expected) in [
        (Language::En, "SV2_Aggregate: operators "),
        (Language::Zh, "SV2_Aggregate：算子 "),
    ] {
        let previews = previews("user-code-failure", None, language, false).await;
        let prompt = &of_step(&previews, "think1").user;
        let (_, stage) = prompt
            .split_once(expected)
            .expect("the stage without vertices");
        let lines: Vec<&str> = stage.lines().skip(1).take(2).collect();
        let did_not_run = language.select("没有运行", "did not run");
        let unread = language.select("未读取", "not read");
        assert!(lines[0].contains(did_not_run), "{lines:?}");
        assert!(lines[1].ends_with(unread), "{lines:?}");
    }
}

#[tokio::test]
async fn mistakes_in_calls_are_answered_in_the_language_of_the_run() {
    let case = "queue-wait";
    for (language, expected) in [
        (
            Language::Zh,
            ["没有工具 `format_disk`", "不在作业目录中", "每轮最多"],
        ),
        (
            Language::En,
            [
                "there is no tool `format_disk`",
                "is not in the job folder",
                "a turn; ask again",
            ],
        ),
    ] {
        let server = Server::start([]).rule(|request| {
            let is_first = request.tool_results().is_empty();
            Some(match step_of(request) {
                "think4" if is_first => {
                    let files = json!({ "files": [{ "file": "nowhere", "reason": "to see" }] });
                    let mut calls = vec![("format_disk", json!({})), ("read_files", files)];
                    for n in 1..=5 {
                        let argument = json!({ "argument": format!("table {n}") });
                        calls.push(("table_metadata", argument));
                    }
                    Turn::tools(&calls)
                }
                "think4" => Turn::tool(
                    "submit_check",
                    &json!({ "sufficient": true, "basis": "E1" }),
                ),
                step => Turn::json(&plain(step)),
            })
        });
        analyzed(case, asking(&server), language, false).await;
        let asked = server.last_for("think4").expect("a request");
        let results = asked.tool_results().join("\n");
        for expected in expected {
            assert!(results.contains(expected), "{expected}: {results}");
        }
    }
}

#[tokio::test]
async fn hypotheses_name_limits_in_words_and_do_not_repeat_the_result() {
    let case = "withheld-join-hot-key-skew";
    for language in [Language::Zh, Language::En] {
        let report = analyzed(case, Offline, language, false).await.report;
        let step = report.steps.iter().find(|s| s.id == "hypotheses");
        let step = step.expect("hypotheses");
        let all = step.conclusion["hypotheses"].as_array().expect("a list");
        assert!(all.iter().any(|h| h["result"] == "open"), "{all:#?}");
        let by = report.rules.iter().map(|rule| rule.text.as_str());
        let results: Vec<&str> = by.filter(|text| !text.is_empty()).collect();
        for check in all.iter().filter_map(|h| h["check"].as_str()) {
            assert_eq!(Language::of(check), language, "{check}");
            for threshold in diagnosis::thresholds() {
                let id = threshold.name;
                assert!(!id.contains('.') || !check.contains(id), "{id} in {check}");
            }
            let mut repeated = results.iter().filter(|result| check.contains(**result));
            assert_eq!(repeated.next(), None, "{check}");
        }
    }
}
