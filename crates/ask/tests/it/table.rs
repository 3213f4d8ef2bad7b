//! Questions that users asked about real folders and logs, with a part of the right answer: `questions.tsv`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use agent::offline::Offline;
use agent::{Analysis, Request, Services, Silent};
use ask::{Asked, answer};
use report::{Language, Report};
use runs::RunSummary;

/// Run, question, and a part of the answer or `refused`.
const TABLE: &str = include_str!("questions.tsv");

/// The folder or log of a run; `None` if the shared runs are absent.
fn place(run: &str) -> Option<PathBuf> {
    match run.strip_prefix("shared/") {
        Some(rest) => testkit::shared(rest),
        None => Some(
            Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("../../tests/cases")
                .join(run),
        ),
    }
}

async fn analyzed(job: &Path, language: Language) -> (Report, RunSummary) {
    let request = Request {
        job: job.to_path_buf(),
        language: Some(language),
        ..Request::default()
    };
    let (catalogue, settings) = (job::Catalogue::builtin(), diagnosis::Settings::default());
    let services = Services::new(&catalogue, &settings, Box::new(Offline));
    let Analysis { report, job, .. } = agent::analyze(&request, &services, &mut Silent)
        .await
        .expect("a report");
    (report, RunSummary::of(&job))
}

fn is_refused(text: &str) -> bool {
    let refusals = [
        "I did not understand",
        "没有理解",
        "can't be answered",
        "无法回答",
    ];
    refusals.iter().any(|refusal| text.starts_with(refusal))
}

#[tokio::test]
async fn users_questions_are_answered_or_refused() {
    let mut runs: BTreeMap<(String, &str), (Report, RunSummary)> = BTreeMap::new();
    let (mut asked, mut wrong) = (0, Vec::new());
    for line in TABLE.lines().filter(|line| !line.is_empty()) {
        let [run, question, expected] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("three columns: {line}");
        };
        let Some(place) = place(run) else {
            continue;
        };
        let language = Language::of(question);
        let key = (run.to_owned(), language.code());
        if !runs.contains_key(&key) {
            runs.insert(key.clone(), analyzed(&place, language).await);
        }
        let (report, summary) = &runs[&key];
        let text = answer(question, &[], &Asked::new(report, summary, &|| None, &[])).text;
        asked += 1;
        let is_right = match expected {
            "refused" => is_refused(&text),
            part => text.contains(part) && !is_refused(&text),
        };
        if !is_right {
            wrong.push(format!("{run}: {question}\n  lacks {expected:?}: {text}"));
        }
    }
    eprintln!("{asked} questions, {} wrong", wrong.len());
    assert!(
        asked > 30,
        "the table has questions about the cases of the project"
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
