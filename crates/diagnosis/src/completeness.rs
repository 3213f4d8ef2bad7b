//! Missing information: the file that would hold it, and the causes that it would decide (section 5 of the
//! specification, computed from facts).

use std::collections::{BTreeMap, BTreeSet};

use job::catalogue::Entry;
use job::info::Information;
use job::model::{FileKind, JobEngine};
use job::{Catalogue, Job};

use crate::diagnosis::{Completeness, Missing};
use crate::outcome::open;
use crate::rule::{Candidate as Found, Examination, Undecided};
use crate::settings::{FILES_PER_ROUND, MIN_RELEVANCE, Settings};
use crate::view::View;
use crate::whence;
use report::{Cause, Language, MissingInformation, ProblemType, Text};

/// Share of the required information that suffices for skew and shuffle, and for other problems:
/// section 5.6 of the specification.
const MINIMUM: f64 = 0.7;
const MINIMUM_OTHER: f64 = 0.5;

/// Missing information and the share at stake.
struct Question<'a> {
    info: Information,
    /// `None` for information about the run as a whole.
    cause: Option<Cause>,
    stake: f64,
    reason: &'a str,
}

/// Missing information of a job, most relevant first.
pub(crate) fn assess(
    view: &View<'_>,
    catalogue: &Catalogue,
    examined: &[Examination],
    gaps: &[Undecided],
    findings: &[Found],
) -> (Completeness, Vec<Missing>) {
    let (job, settings) = (view.job, view.settings);
    let questions = questions(view, examined, gaps);
    let missing = missing((job, view.language), catalogue, settings, &questions);
    let kind = findings
        .first()
        .map_or(ProblemType::None, |f| f.finding.problem_type);
    let minimum = if matches!(kind, ProblemType::DataSkew | ProblemType::ExcessiveShuffle) {
        MINIMUM
    } else {
        MINIMUM_OTHER
    };
    let score = score(job, catalogue, kind);
    let undecided: BTreeSet<Cause> = questions.iter().filter_map(|q| q.cause).collect();
    let completeness = Completeness {
        score,
        minimum,
        sufficient: score >= minimum && questions.is_empty(),
        progress: 1.0 - undecided.len() as f64 / examined.len().max(1) as f64,
    };
    (completeness, missing)
}

/// Undecided causes that could cost a relevant share.
fn questions<'a>(
    view: &View<'_>,
    examined: &'a [Examination],
    gaps: &'a [Undecided],
) -> Vec<Question<'a>> {
    let of_rules = examined
        .iter()
        .flat_map(|e| open(e, view).into_iter().map(|u| (Some(e.cause), u)));
    of_rules
        .chain(gaps.iter().map(|u| (None, u)))
        .map(|(cause, u)| Question {
            info: u.info,
            cause,
            stake: u.share_at_stake,
            reason: &u.reason,
        })
        .collect()
}

/// One entry per file that could decide an open question, ranked by the share of the undecided impact that
/// it would settle. Absent files are named, present ones recommended for reading.
fn missing(
    (job, language): (&Job, Language),
    catalogue: &Catalogue,
    settings: &Settings,
    questions: &[Question<'_>],
) -> Vec<Missing> {
    let all = at_stake(questions.iter());
    let mut entries: Vec<Missing> = Vec::new();
    let mut infos: Vec<Information> = questions.iter().map(|q| q.info).collect();
    infos.sort_unstable();
    infos.dedup();
    for info in infos {
        let of_info: Vec<&Question<'_>> = questions.iter().filter(|q| q.info == info).collect();
        let settled = at_stake(of_info.iter().copied());
        // without the run as a whole, no conclusion is possible
        let of_run = of_info.iter().any(|q| q.cause.is_none());
        let relevance = if of_run { 1.0 } else { settled / all };
        let causes: BTreeSet<Cause> = of_info.iter().filter_map(|q| q.cause).collect();
        let Some(worst) = of_info.iter().max_by(|a, b| a.stake.total_cmp(&b.stake)) else {
            continue;
        };
        for file in files_for(job, catalogue, info) {
            entries.push(Missing {
                information: MissingInformation {
                    info: info.code().to_owned(),
                    file: file.name,
                    present: file.present,
                    without_it: file.without_it,
                    would_decide: causes.iter().copied().collect(),
                    reason: worst.reason.to_owned(),
                    from: file.from.map(|from| from.into(language)),
                },
                relevance,
                parser: file.parser,
            });
        }
    }
    entries.sort_by(|a, b| {
        b.relevance
            .total_cmp(&a.relevance)
            .then(b.information.present.cmp(&a.information.present))
    });
    keep_round(&mut entries, settings);
    entries
}

/// Sum of the largest stake of each cause. A fact settles a cause once, even if several stages lack
/// it.
fn at_stake<'a>(questions: impl Iterator<Item = &'a Question<'a>>) -> f64 {
    let mut stakes: BTreeMap<Option<Cause>, f64> = BTreeMap::new();
    for q in questions {
        let stake = stakes.entry(q.cause).or_default();
        *stake = stake.max(q.stake);
    }
    stakes.values().sum()
}

/// Present files beyond the round's number or below the threshold are left for a later round.
/// Absent ones stay in the list.
fn keep_round(entries: &mut Vec<Missing>, settings: &Settings) {
    let threshold = settings.get(&MIN_RELEVANCE);
    let most = settings.get(&FILES_PER_ROUND).max(1.0) as usize;
    let mut recommended = 0;
    entries.retain(|e| {
        if !e.information.present {
            return true;
        }
        recommended += usize::from(e.relevance >= threshold);
        e.relevance >= threshold && recommended <= most
    });
}

struct Candidate {
    name: String,
    present: bool,
    /// A file of that name is there, but does not hold the information.
    without_it: bool,
    /// Where it can be fetched.
    from: Option<Text>,
    parser: Option<String>,
}

/// Files that could provide some information: unread ones of the folder, else the usual names of
/// absent ones.
fn files_for(job: &Job, catalogue: &Catalogue, info: Information) -> Vec<Candidate> {
    let mut files: Vec<Candidate> = Vec::new();
    let named = |name: &str, present: bool, without_it: bool, entry: &Entry| Candidate {
        name: name.to_owned(),
        present,
        without_it,
        from: None,
        parser: entry.parser.clone(),
    };
    for entry in catalogue.providers(info) {
        if is_of_other_flavor(job, entry.kind) {
            continue;
        }
        let held: Vec<_> = job.files.iter().filter(|f| f.kind == entry.kind).collect();
        if held.is_empty()
            && let Some(name) = catalogue.usual_name(entry.kind)
        {
            files.push(Candidate {
                from: Some(whence::file(job, entry.kind)),
                ..named(name, false, is_there(job, name), entry)
            });
        }
        let unread = held.iter().filter(|f| !f.read);
        files.extend(unread.map(|file| named(&file.name, true, false, entry)));
    }
    files.dedup_by(|a, b| a.name == b.name);
    if files.is_empty() {
        // The file was read and lacks the information.
        let providers = catalogue.providers(info);
        let read = providers.iter().find_map(|entry| {
            let file = job.files.iter().find(|f| f.kind == entry.kind)?;
            Some(named(&file.name, false, true, entry))
        });
        files.extend(read);
    }
    files
}

/// Whether the folder has a file of that name: empty, damaged, or of another kind than its name says.
fn is_there(job: &Job, name: &str) -> bool {
    let mut files = job.files.iter();
    files.any(|file| {
        let last = file.name.rsplit('/').next().unwrap_or(&file.name);
        last.eq_ignore_ascii_case(name)
    })
}

/// Files of another engine are not missing, nor files that only a local run has in a cluster folder.
fn is_of_other_flavor(job: &Job, kind: FileKind) -> bool {
    if kind.is_spark() != (job.engine() == Some(JobEngine::Spark)) {
        return true;
    }
    let local = job
        .files
        .iter()
        .any(|f| matches!(f.kind, FileKind::VertexStdout | FileKind::VertexCommand));
    let of_local = matches!(
        kind,
        FileKind::VertexStdout | FileKind::VertexCommand | FileKind::CompilerPlan | FileKind::Ast
    );
    of_local != local && of_local
}

/// Share of the information that this type of problem needs and that was read.
fn score(job: &Job, catalogue: &Catalogue, kind: ProblemType) -> f64 {
    let required: &[Information] = match kind {
        ProblemType::DataSkew => &[
            Information::Script,
            Information::StageGraph,
            Information::PerVertexData,
            Information::RuntimeCounters,
        ],
        ProblemType::ExcessiveShuffle => &[
            Information::Script,
            Information::StageGraph,
            Information::RuntimeCounters,
            Information::StageStatistics,
        ],
        ProblemType::Other | ProblemType::None => &[
            Information::Script,
            Information::StageGraph,
            Information::RuntimeCounters,
            Information::JobTimes,
        ],
    };
    let have = required.iter().filter(|info| {
        catalogue
            .providers(**info)
            .iter()
            .any(|entry| job.files.iter().any(|f| f.kind == entry.kind && f.read))
    });
    have.count() as f64 / required.len() as f64
}
