//! Passages of each step, over every case and in both languages.

use std::collections::BTreeSet;
use std::path::PathBuf;

use agent::Request;
use agent::model::DryRun;
use indexer::{Chunk, Kind, Section};
use llm::{Profile, Provider};
use report::{Language, Report, RuleResult, Verdict};
use testkit::knowledge::index;

use crate::support::{self, *};

/// Every job: the simulator's cases, and the Spark logs.
fn jobs() -> Vec<PathBuf> {
    let names = simulator::cases().into_iter().map(|case| case.name);
    let mut jobs: Vec<PathBuf> = names.map(support::case).collect();
    let committed = support::root().join("tests/cases");
    jobs.push(committed.join("spark-join-hot-key/app-20261122005702-0000.zstd"));
    jobs.push(committed.join("spark-star-join/app-20261122012010-0000"));
    jobs
}

/// Prompts take longest, so only one job of this many is checked with its prompts.
const SHOWN: usize = 7;

/// A report, and the prompt that each step saw last.
struct Analyzed {
    report: Outcome,
    prompts: Vec<(String, String)>,
}

/// Analyzes a job offline; where `shown`, with the prompts that a model would see.
async fn analyzed(job: PathBuf, language: Language, shown: bool) -> Analyzed {
    let request = Request {
        job,
        language: Some(language),
        hypotheses: true,
        ..Request::default()
    };
    if !shown {
        let report = run(&request, Setting::offline()).await;
        return Analyzed {
            report,
            prompts: Vec::new(),
        };
    }
    let dry = DryRun::new(Profile::new(Provider::OpenAi, "gpt-4o"));
    let previews = dry.previews();
    let report = run(&request, Setting::with(dry).indexed()).await;
    let previews = previews.lock().expect("the run is over");
    let of_steps = |p: &agent::model::Preview| {
        let steps = p.steps.iter();
        let prompts = steps.map(|step| (step.clone(), p.user.clone()));
        prompts.collect::<Vec<_>>()
    };
    let prompts = previews.iter().flat_map(of_steps).collect();
    Analyzed { report, prompts }
}

/// The chunks of each step, in the order of the report.
fn lists(report: &Report) -> Vec<(&str, Vec<Chunk>)> {
    let mut lists: Vec<(&str, Vec<Chunk>)> = Vec::new();
    for experience in &report.experiences {
        let chunk = index().chunk(&experience.chunk).expect("it was found");
        match lists
            .last_mut()
            .filter(|(step, _)| *step == experience.step)
        {
            Some((_, list)) => list.push(chunk),
            None => lists.push((&experience.step, vec![chunk])),
        }
    }
    lists
}

/// Faults in the experience of one analysis, and its lists with the section that they are for.
#[derive(Default)]
struct Measured {
    faults: Vec<String>,
    /// Lists of THINK 3 and THINK 5: all, and those with a cause or a fix.
    causes: (usize, usize),
    fixes: (usize, usize),
}

impl Measured {
    fn look_at(&mut self, name: &str, Analyzed { report, prompts }: &Analyzed) {
        let lists = lists(report);
        let mut ids: BTreeSet<&str> = BTreeSet::new();
        let mut parts: BTreeSet<(&str, Option<Section>, &str)> = BTreeSet::new();
        for (step, chunk) in lists
            .iter()
            .flat_map(|(step, list)| list.iter().map(move |c| (step, c)))
        {
            if !ids.insert(&chunk.id) {
                self.faults
                    .push(format!("{name} {step}: again {}", chunk.id));
            }
            let other = chunk.language.select("en", "zh");
            if parts.contains(&(chunk.subject(), chunk.section, other)) {
                self.faults
                    .push(format!("{name} {step}: translated {}", chunk.id));
            }
            parts.insert((chunk.subject(), chunk.section, chunk.language.code()));
            let cleared = |code: &String| {
                let mut rules = report.rules.iter();
                rules.any(|r| r.cause.code() == code && r.outcome == RuleResult::Cleared)
            };
            // A suggestion may name the section of a page about another cause.
            let mut named = report.suggestions.iter().flat_map(|s| &s.sources);
            let is_named = named.any(|source| *source == chunk.id);
            if !is_named && !chunk.causes.is_empty() && chunk.causes.iter().all(cleared) {
                self.faults
                    .push(format!("{name} {step}: ruled out {}", chunk.id));
            }
            // THINK 4 has no prompt if there is no file left to ask for.
            let Some((_, prompt)) = prompts.iter().rfind(|(of, _)| of == step) else {
                continue;
            };
            if !prompt.contains(&format!("[{}]", chunk.id)) {
                self.faults
                    .push(format!("{name} {step}: not shown {}", chunk.id));
            }
            for part in chunk.resolution() {
                let text = index().chunk(&part).expect("a case has a resolution").text;
                let line = text.lines().last().expect("it says something");
                if !prompt.contains(line) {
                    self.faults
                        .push(format!("{name} {step}: unresolved {}", chunk.id));
                }
            }
        }
        let count = |of: &str, section: Section| {
            let list = lists.iter().find(|(step, _)| *step == of);
            let holds = list.is_some_and(|(_, list)| {
                // A short case is one chunk, including the fix.
                let is_whole_case = |c: &Chunk| c.kind == Kind::Case && c.section.is_none();
                list.iter().any(|c| {
                    c.section == Some(section) || section == Section::Fix && is_whole_case(c)
                })
            });
            usize::from(holds)
        };
        if report.verdict == Verdict::Healthy {
            if !lists.is_empty() {
                self.faults.push(format!("{name}: not needed {lists:#?}"));
            }
            return;
        }
        let (cause, fix) = (
            count("think3", Section::Cause),
            count("think5", Section::Fix),
        );
        self.causes = (self.causes.0 + 1, self.causes.1 + cause);
        self.fixes = (self.fixes.0 + 1, self.fixes.1 + fix);
    }
}

/// Every case in one language; in both where `SCOPEAGENT_BOTH_LANGUAGES` is set.
#[tokio::test]
async fn section_8_each_step_reads_its_own_sections_once() {
    let mut measured = Measured::default();
    let both = std::env::var_os("SCOPEAGENT_BOTH_LANGUAGES").is_some();
    for (number, job) in jobs().into_iter().enumerate() {
        for (place, language) in [Language::Zh, Language::En].into_iter().enumerate() {
            if !both && number % 2 != place {
                continue;
            }
            let name = format!("{} {}", job.display(), language.code());
            let shown = both || number % SHOWN == 0;
            measured.look_at(&name, &analyzed(job.clone(), language, shown).await);
        }
    }
    let Measured {
        faults,
        causes,
        fixes,
    } = measured;
    let count = |kind: &str| faults.iter().filter(|f| f.contains(kind)).count();
    let counts = [
        "again",
        "translated",
        "not shown",
        "unresolved",
        "ruled out",
    ]
    .map(|kind| (kind, count(kind)));
    eprintln!("{counts:?}, causes {causes:?}, fixes {fixes:?}");
    assert!(faults.is_empty(), "{faults:#?}");
    for (all, held) in [causes, fixes] {
        assert!(held * 10 >= all * 9, "{held} of {all}");
    }
}

/// The jobs of the shared folder, where it is there.
fn shared_jobs() -> Vec<PathBuf> {
    let folders = ["jobs-dev", "spark-dev/logs", "spark-dev2/logs"];
    let folders = folders.into_iter().filter_map(testkit::shared);
    let entries = folders.flat_map(|folder| std::fs::read_dir(folder).expect("listed").flatten());
    let begins = ["job-", "app-", "eventlog_v2_"];
    let is_job = |name: &str| begins.iter().any(|begin| name.starts_with(begin));
    let jobs = entries.filter(|entry| is_job(&entry.file_name().to_string_lossy()));
    let mut jobs: Vec<PathBuf> = jobs.map(|entry| entry.path()).collect();
    jobs.sort();
    jobs
}

/// The fault of the first passage of THINK 5; `None` for a job without a suggestion.
fn fault_of_first_fix(report: &Report) -> Option<String> {
    let suggestion = report.suggestions.first()?;
    let mut entries = report.experiences.iter().filter(|e| e.step == "think5");
    let Some(entry) = entries.next() else {
        return Some(format!("no passage: {}", suggestion.title));
    };
    let chunk = index().chunk(&entry.chunk).expect("it was found");
    let heading = chunk.heading_path.last().map_or("", String::as_str);
    let (own, other) = match report.job.engine {
        Some(report::JobEngine::Usql) => ("U-SQL", "SCOPE"),
        Some(report::JobEngine::Scope) => ("SCOPE", "U-SQL"),
        _ => ("Spark", ""),
    };
    let is_strange = !other.is_empty() && heading.contains(other) && !heading.contains(own);
    // Plain SELECT statements are the same in both dialects; hints are not.
    let text = &chunk.sections()[0].text;
    let hints = text.contains("\n[") && own == "U-SQL" && !text.contains("U-SQL");
    let fault = if chunk.section != Some(Section::Fix) {
        "no fix"
    } else if suggestion.sources.first() != Some(&entry.chunk) {
        "not the suggestion's"
    } else if !entry.title.ends_with(heading) || chunk.heading_path.len() < 2 {
        "not named"
    } else if is_strange || hints {
        "another dialect"
    } else {
        return None;
    };
    Some(format!("{fault}: {} for {}", entry.chunk, suggestion.title))
}

#[tokio::test]
async fn the_first_fix_is_the_section_that_the_first_suggestion_names() {
    let mut faults = Vec::new();
    for (number, job) in jobs().into_iter().chain(shared_jobs()).enumerate() {
        let language = [Language::Zh, Language::En][number % 2];
        let name = job.display().to_string();
        let report = analyzed(job, language, false).await.report;
        faults.extend(fault_of_first_fix(&report).map(|fault| format!("{name}: {fault}")));
    }
    assert!(faults.is_empty(), "{faults:#?}");
}
