//! The whole context that a model sees, step by step, under review as snapshots. Of the experience they have the titles only, so that
//! an edit of a document does not change them.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::sync::{Arc, Mutex};

use agent::experience::ExperienceSource;
use agent::model::{DryRun, Preview};
use agent::terms::Terms;
use agent::{Prompts, Request, Silent, StepId};
use ask::Asked;
use indexer::{Chunk, Engine, Hit, Query};
use llm::{Profile, Provider};
use report::{Language, ReasonerKind};
use runs::store::Turn;
use testkit::contains;

use crate::support::{self, *};

/// The documents of the project, without their text.
struct Titles;

fn without_text(mut chunk: Chunk) -> Chunk {
    chunk.text = "…".to_owned();
    chunk
}

impl ExperienceSource for Titles {
    fn chunk(&self, id: &str) -> Option<Chunk> {
        testkit::knowledge::index().chunk(id).map(without_text)
    }

    fn search(&self, query: &Query<'_>) -> Result<Vec<Hit>, String> {
        let hits = ExperienceSource::search(testkit::knowledge::index(), query)?;
        let untold = |hit: Hit| Hit {
            chunk: Arc::new(without_text(Arc::unwrap_or_clone(hit.chunk))),
            ..hit
        };
        Ok(hits.into_iter().map(untold).collect())
    }
}

/// A reasoner that shows the prompts.
fn dry_run() -> (DryRun, Arc<Mutex<Vec<Preview>>>) {
    let dry = DryRun::new(Profile::new(Provider::OpenAi, "gpt-4o"));
    let previews = dry.previews();
    (dry, previews)
}

fn taken(previews: &Mutex<Vec<Preview>>) -> Vec<Preview> {
    std::mem::take(&mut *previews.lock().expect("the run is over"))
}

/// The prompts of an analysis with hypotheses, and of the second of two questions about the saved run.
async fn sent(request: &Request) -> Vec<Preview> {
    let (dry, previews) = dry_run();
    let setting = Setting {
        source: Some(&Titles),
        ..Setting::with(dry)
    };
    let outcome = run(request, setting).await;
    let mut sent = taken(&previews);
    let asked = Asked::new(&outcome.report, &outcome.summary, &|| None, &[]);
    let select = |zh, en| outcome.report.language.select(zh, en);
    let [first, second] = [
        select("哪个阶段最慢？", "Which stage is the slowest?"),
        select("它读了多少行？", "And how many rows does it read?"),
    ];
    let answered = ask::answer(first, &[], &asked);
    let turn = Turn {
        question: first.to_owned(),
        text: answered.text,
        evidence: answered.evidence,
        reasoner: ReasonerKind::Offline,
        created_at: "2026-11-23T00:00:00Z".to_owned(),
    };
    let asked = Asked::new(&outcome.report, &outcome.summary, &|| None, &turn.evidence);
    let measured = ask::answer(second, &[first.to_owned()], &asked);
    let input = ask::input(second, measured, std::slice::from_ref(&turn), &asked, false);
    let (dry, previews) = dry_run();
    let replied = agent::reply(&input, &services(Setting::with(dry)), &mut Silent).await;
    replied.expect("a reply");
    sent.extend(taken(&previews));
    sent
}

fn contexts(previews: &[Preview]) -> String {
    let mut out = String::new();
    let mut system = "";
    for p in previews {
        if p.system != system {
            system = &p.system;
            out.push_str(&format!("\n######## system\n{system}\n"));
        }
        let steps = p.steps.join("+");
        let (tokens, user) = (p.tokens, &p.user);
        out.push_str(&format!("\n######## {steps} ({tokens} tokens)\n{user}\n"));
    }
    out
}

/// Share of a prompt that is the beginning of the prompt before, over all steps.
fn common_share(sent: &[Preview]) -> f64 {
    let whole = |p: &Preview| format!("{}\n{}", p.system, p.user);
    let (mut common, mut all) = (0, 0);
    for pair in sent.windows(2) {
        let [before, now] = [whole(&pair[0]), whole(&pair[1])];
        let same = before.bytes().zip(now.bytes()).take_while(|(a, b)| a == b);
        common += same.count();
        all += now.len();
    }
    common as f64 / all as f64
}

/// A job, and a question about it in Chinese and English.
const JOBS: [(&str, &str, &str); 4] = [
    (
        "join-hot-key-skew",
        "为什么这个作业花这么长时间？",
        "why does this job take so long?",
    ),
    (
        "excessive-shuffle",
        "为什么这个作业这么慢？",
        "why is this job so slow?",
    ),
    (
        "user-code-failure",
        "这个作业为什么失败？",
        "why did this job fail?",
    ),
    (
        "healthy",
        "这个作业有什么问题吗？",
        "is anything wrong with this job?",
    ),
];

fn request((case, zh, en): (&str, &str, &str), language: Language) -> Request {
    Request {
        question: Some(language.select(zh, en).to_owned()),
        language: Some(language),
        hypotheses: true,
        job: support::case(case),
        ..Request::default()
    }
}

#[tokio::test]
async fn section_3_what_a_model_sees_of_four_jobs() {
    for job in JOBS {
        for language in [Language::Zh, Language::En] {
            let sent = sent(&request(job, language)).await;
            let steps: BTreeSet<&str> = sent
                .iter()
                .flat_map(|p| &p.steps)
                .map(String::as_str)
                .collect();
            // All files of these jobs are read, and no cause is undecided.
            let all = StepId::THINK.into_iter();
            let all = all.chain([StepId::Hypotheses, StepId::Answer]);
            let all = all.filter(|step| *step != StepId::Completeness);
            assert_eq!(steps, all.map(StepId::id).collect());
            let shared = common_share(&sent[..sent.len() - 1]);
            assert!(shared > 0.7, "{} {shared}", job.0);
            let name = format!("{}.{}", job.0, language.code());
            insta::assert_snapshot!(name, contexts(&sent));
        }
    }
}

/// Tools and schemas, which are the same for every job.
#[tokio::test]
async fn section_4_what_a_model_is_offered_and_how_it_has_to_answer() {
    for language in [Language::Zh, Language::En] {
        let mut out = String::new();
        let mut seen = BTreeSet::new();
        let request = Request {
            job: about(JOBS[0].0).job,
            ..request(JOBS[0], language)
        };
        for p in sent(&request).await {
            let steps = p.steps.join("+");
            if !seen.insert(steps.clone()) {
                continue;
            }
            for tool in &p.tools {
                let (name, description) = (&tool.name, &tool.description);
                let parameters = serde_json::to_string_pretty(&tool.schema).expect("JSON");
                out.push_str(&format!(
                    "######## {steps}: tool {name}\n{description}\n{parameters}\n\n"
                ));
            }
            if let Some(schema) = &p.schema {
                let schema = serde_json::to_string_pretty(schema).expect("JSON");
                out.push_str(&format!("######## {steps}: schema\n{schema}\n\n"));
            }
        }
        insta::assert_snapshot!(format!("tools-and-schemas.{}", language.code()), out);
    }
}

#[test]
fn section_7_both_languages_have_the_same_templates_that_render() {
    let folder = support::root().join("prompts");
    let names = |language: &str| -> BTreeSet<OsString> {
        let templates = std::fs::read_dir(folder.join(language)).expect("the templates");
        templates.flatten().map(|e| e.file_name()).collect()
    };
    assert_eq!(names("zh"), names("en"));
    let prompts = Prompts::built_in();
    for language in [Language::Zh, Language::En] {
        let terms = serde_json::json!({ "one_job": "X", "parts_of_job": "Y" });
        let context = serde_json::json!({ "terms": terms });
        let text = prompts.render(language, "system", context);
        let text = text.expect("it needs no other data");
        assert_eq!(Language::of(&text), language);
        for n in 1..=5 {
            contains(&text, [format!("[THINK {n}]").as_str()]);
        }
    }
}

#[test]
fn section_5_5_the_guidance_follows_the_class_of_the_problem() {
    for (class, en, zh) in [
        ("data_skew", "which values are hot", "是不是空值"),
        (
            "excessive_shuffle",
            "cross each exchange",
            "哪些列后面还会用到",
        ),
        ("other", "garbage collection", "垃圾回收"),
    ] {
        for (language, guidance) in [(Language::En, en), (Language::Zh, zh)] {
            let context = serde_json::json!({
                "terms": Terms::of(Engine::Scope, language), "problem_type": class, "tools": false, "marks": false,
            });
            let text = Prompts::built_in().render(language, "think4", &context);
            contains(text.expect("think4"), [guidance]);
        }
    }
}

#[test]
fn templates_speak_of_the_engine_that_ran_the_job() {
    for (engine, language, foreign, own) in [
        (
            Engine::Spark,
            Language::En,
            &["SCOPE", "vert"][..],
            &["executor", "Spark SQL", "per task"][..],
        ),
        (
            Engine::Spark,
            Language::Zh,
            &["SCOPE", "顶点", "C#"],
            &["Executor", "Spark SQL", "各任务"],
        ),
        (
            Engine::Scope,
            Language::En,
            &["Spark", "executor"],
            &["vertex", "C# classes", "U-SQL"],
        ),
        (
            Engine::Scope,
            Language::Zh,
            &["Spark", "Executor"],
            &["顶点", "C# 类", "U-SQL"],
        ),
    ] {
        let context = serde_json::json!({
            "terms": Terms::of(engine, language), "problem_type": "other", "tools": false, "marks": false, "answer": null,
        });
        let render = |name| Prompts::built_in().render(language, name, &context);
        let texts = ["system", "think2", "think4", "think5"].map(|name| render(name).expect(name));
        let text = texts.join("\n");
        for word in foreign {
            assert!(!text.contains(word), "{engine:?}: {word} in {text}");
        }
        for word in own {
            assert!(text.contains(word), "{engine:?}: no {word} in {text}");
        }
    }
}
