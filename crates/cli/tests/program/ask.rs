//! `scopeagent ask`: questions about a saved run, answered offline and by an LLM.

use std::fs;
use std::path::Path;

use serde_json::Value;
use testkit::llm::{Recorded, Server, Turn};
use testkit::{contains, lacks};

use crate::llm::configured;
use crate::support::{Answer, User, case, items, texts, write_twins};

/// The stage of the only finding of this job.
const JOB: &str = "join-hot-key-skew";
const STAGE: &str = "SV3_Combine_Reduce";

/// Asks about the last run.
fn ask(user: &User, question: &str, flags: &str) -> Answer {
    user.run(&format!("ask last '{question}' --color never {flags}"))
}

/// The same, on one line.
fn said(user: &User, question: &str, flags: &str) -> String {
    one_line(&ask(user, question, flags).text())
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Saves a run of the job; returns its id.
fn analyzed(user: &User) -> String {
    let report = user.report(&case(JOB), "--reasoner offline --lang en");
    report["run_id"].as_str().expect("an id").to_owned()
}

#[test]
fn a_question_is_answered_offline_with_the_places_of_its_numbers() {
    let user = User::new();
    let run = analyzed(&user);
    let text = said(&user, "Why is SV3_Combine_Reduce so slow?", "");
    contains(&text, [STAGE, "hot key in a join", "F1", "[E"]);
    contains(&text, [" · E", "[__ScopeRuntimeStatistics__.xml "]);
    let answered = ask(&user, "Which stage is the slowest?", "--format json").json();
    assert_eq!(answered["run_id"], *run);
    assert_eq!(answered["question"], "Which stage is the slowest?");
    assert_eq!(answered["engine"]["reasoner"], "offline");
    assert_eq!(answered["usage"], Value::Null);
    let text = answered["text"].as_str().expect("a text");
    contains(text, [STAGE]);
    let cited = texts(&answered["evidence"], "id");
    assert!(!cited.is_empty(), "{answered}");
    assert!(cited.iter().all(|id| text.contains(id)), "{answered}");
}

#[test]
fn a_question_goes_on_from_those_before_it_unless_they_were_not_saved() {
    let user = User::new();
    analyzed(&user);
    ask(&user, "How long did SV3_Combine_Reduce take?", "").text();
    ask(&user, "How long did SV1_Extract_Split take?", "--no-store").text();
    let text = said(&user, "and how many vertices?", "");
    contains(&text, ["SV3_Combine_Reduce has 16 vertices"]);
    lacks(&text, ["SV1_Extract_Split"]);
    let text = said(&user, "它读了多少行？", "");
    contains(text, [STAGE, "6214 万行"]);
}

/// A model that answers every question like this.
fn saying(text: &'static str) -> Server {
    Server::start([]).rule(move |_| {
        let reply = serde_json::json!({ "text": text, "evidence": ["E1", "E777"] });
        Some(Turn::json(&reply))
    })
}

#[test]
fn a_model_sees_the_programs_answer_and_the_earlier_turns_and_is_checked() {
    let server = saying("The hot key costs most of the time [E1], and SV99_Ghost the rest.");
    let user = configured(&server);
    analyzed(&user);
    assert!(server.requests().is_empty(), "the analysis was offline");
    let answered = ask(&user, "Why is SV3_Combine_Reduce so slow?", "--format json").json();
    assert_eq!(answered["engine"]["reasoner"], "llm");
    let text = answered["text"].as_str().expect("a text");
    contains(text, ["most of the time [E1]", "SV99_Ghost [unverified]"]);
    assert!(texts(&answered["evidence"], "id").contains(&"E1"));
    // What stands of the answer needs no repair.
    assert_eq!(answered["usage"]["calls"], 1);
    assert_eq!(answered["checks"]["repaired"], 0);
    let seen = |request: &Recorded| request.prompt();
    let first = seen(&server.requests()[0]);
    contains(
        &first,
        [
            "The main cause",
            "hot key in a join",
            "Why is SV3_Combine_Reduce so slow?",
        ],
    );
    lacks(&first, ["costs most of the time"]);

    ask(&user, "And what would you do first?", "").text();
    let requests = server.requests();
    let second = seen(&requests[1]);
    contains(
        second,
        [
            "## Earlier questions and their answers",
            "Why is SV3_Combine_Reduce so slow?",
            "The hot key costs most of the time [E1]",
            "And what would you do first?",
            "SKEWJOIN",
        ],
    );
}

/// The id at the end of the prompt's line with this start.
fn cited(request: &Recorded, line: &str) -> String {
    let prompt = request.prompt();
    let mut lines = prompt.lines().map(|line| line.trim_start_matches("  - "));
    let line = lines.find(|shown| shown.starts_with(line)).expect(line);
    let (_, id) = line.rsplit_once('[').expect("it cites something");
    id.trim_end_matches("].").to_owned()
}

#[test]
fn a_model_may_cite_what_it_sees_of_a_stage_and_the_next_turn_lists_it() {
    let server = Server::start([]).rule(|request| {
        let id = cited(request, "SV1_Extract_Split takes 43 s");
        let text = format!("SV1_Extract_Split takes 43 s [{id}].");
        let reply = serde_json::json!({ "text": text, "evidence": [id] });
        Some(Turn::json(&reply))
    });
    let user = configured(&server);
    analyzed(&user);
    let question = "Why is SV3_Combine_Reduce so slow?";
    let answered = ask(&user, question, "--format json").json();
    let all = answered["evidence"].as_array().expect("evidence");
    let told = |e: &&Value| {
        e["text"]
            .as_str()
            .is_some_and(|text| text.starts_with("SV1_Extract_Split takes 43 s"))
    };
    let evidence = all.iter().find(told).expect("it is given");
    let text = evidence["text"].as_str().expect("a text");
    assert_eq!(answered["checks"]["dropped"], 0);
    ask(&user, "And what would you do first?", "").text();
    let second = server.requests().pop().expect("a request");
    let id = evidence["id"].as_str().expect("an id");
    contains(second.prompt(), [format!("\n{id} {text}").as_str()]);
}

#[test]
fn a_model_that_fails_is_replaced_by_the_program_unless_that_is_forbidden() {
    let server = Server::start([]).rule(|_| Some(Turn::error(401, "bad key")));
    let user = configured(&server);
    analyzed(&user);
    let question = "Which stage is the slowest?";
    let answered = ask(&user, question, "--format json").json();
    assert_eq!(answered["engine"]["reasoner"], "offline");
    contains(
        answered["engine"]["fallback"].as_str().expect("a reason"),
        ["401"],
    );
    contains(answered["text"].as_str().expect("a text"), [STAGE]);
    contains(ask(&user, question, "--no-fallback").refused(4), ["hint:"]);
    let asked = server.requests().len();
    ask(&user, question, "--reasoner offline").text();
    assert_eq!(server.requests().len(), asked);
}

/// Makes a job folder one of the year before, under another id.
fn make_older(job: &Path) {
    let read = |file: &str| fs::read_to_string(job.join(file)).expect(file);
    let info = read("JobInfo.xml");
    let after = |mark: &str| info.split(mark).nth(1).expect("it is stated");
    let id = &after("<Id>")[..8];
    let year = &after("<SubmitTime>")[..5];
    let before = format!("{}-", year[..4].parse::<u32>().expect("a year") - 1);
    let older = |text: String| text.replace(year, &before);
    for (file, text) in [
        ("JobInfo.xml", older(info.replace(id, "00000000"))),
        ("profile", older(read("profile"))),
    ] {
        fs::write(job.join(file), text).expect("written");
    }
}

#[test]
fn what_changed_since_the_last_run_is_read_from_the_store() {
    let question = "What changed since the last run?";
    let user = User::new();
    let (good, bad) = (user.path("good"), user.path("bad"));
    write_twins(&good, &bad);
    make_older(&good);
    let bad_run = user.report(&bad, "--lang en");
    contains(
        said(&user, question, ""),
        ["No earlier run of this job is saved"],
    );
    let good_run = user.report(&good, "--lang en");
    // The good run is older, though it was analyzed later.
    contains(
        said(&user, question, ""),
        ["No earlier run of this job is saved"],
    );

    let about_bad = |question: &str| {
        let run = bad_run["run_id"].as_str().expect("an id");
        one_line(
            &user
                .run(&format!("ask {run} '{question}' --color never"))
                .text(),
        )
    };
    let text = about_bad(question);
    contains(
        &text,
        [
            "Since the last run (",
            "the run time went from",
            "Most likely reason",
        ],
    );
    contains(&text, ["skew"]);
    let seconds = |report: &Value| report["job"]["elapsed_seconds"].as_f64().expect("a time");
    assert!(seconds(&good_run) < seconds(&bad_run));
    let (slower, faster) = (text.contains("(+"), text.contains("(−"));
    assert!(slower && !faster, "{text}");
    let text = about_bad("和上次运行相比有什么变化？");
    contains(text, ["与上一次运行"]);
    let findings = items(&bad_run["findings"]);
    assert_eq!(findings[0]["cause"], "skew.join_hot_key");
}

#[test]
fn a_run_that_is_not_there_is_named() {
    let user = User::new();
    analyzed(&user);
    let errors = user.run("ask 01NOSUCHRUN why?").refused(3);
    contains(errors, ["01NOSUCHRUN"]);
}
