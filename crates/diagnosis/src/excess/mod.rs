//! Unclaimed time on the critical path that the work does not need.
//!
//! Rules know mechanisms: they find a hot key in a stage because its rows and its plan show one. The time account knows how much is
//! left over. Every relevant unclaimed excess becomes a finding of its kind, so that no report is healthy while its own
//! account holds removable time.

mod application;
mod distinct;
mod files;
mod late;
mod lineage;
mod loops;
mod scans;
mod shares;
mod slots;
mod startup;
mod straggler;
mod streams;
mod waits;
mod work;

pub use distinct::EXPANDED;
pub(crate) use files::needless as needless_files;
pub use lineage::STEPS;
pub use streams::USUAL_BATCHES;

use std::collections::{BTreeMap, HashMap, HashSet};

use job::model::Application;
use report::{Cause, Evidence, Impact, SegmentKind, Text, text};

use crate::account::{Account, Claimed, Part};
use crate::rule::{Candidate, Examination, severity};
use crate::settings::{LEAST_UNKNOWN_S, MIN_SHARE};
use crate::view::View;
use crate::weigh;
use report::format::{FewNames, Seconds, Share};

/// Stages that a sentence names; further ones are counted.
const NAMED_STAGES: usize = 3;

/// Positions in [`Account::parts`], with seconds of each.
type Parts = Vec<(usize, f64)>;

/// Removable time of one kind.
pub(crate) struct Excess {
    cause: Cause,
    /// Its parts of the account, with the seconds that could be saved.
    parts: Parts,
    /// Its stages, the costliest first; none for time between stages.
    stages: Vec<usize>,
    summary: Text,
    evidence: Vec<Evidence>,
    /// Chance that the cause is right.
    certainty: f64,
    method: &'static str,
}

impl Excess {
    fn seconds(&self) -> f64 {
        self.parts.iter().map(|(_, seconds)| seconds).sum()
    }
}

/// The unclaimed parts of the account, by stage.
pub(crate) struct Unclaimed<'a> {
    view: &'a View<'a>,
    account: &'a Account,
    /// Stages with claimed parts, and the causes of the findings.
    claimed: HashMap<usize, HashSet<Cause>>,
}

impl<'a> Unclaimed<'a> {
    fn of(view: &'a View<'a>, account: &'a Account, findings: &[Candidate]) -> Unclaimed<'a> {
        let mut claimed: HashMap<usize, HashSet<Cause>> = HashMap::new();
        for part in &account.parts {
            if let (Some(stage), Some(finding)) = (part.stage, part.finding) {
                let cause = findings.get(finding).map(|c| c.finding.cause);
                claimed.entry(stage).or_default().extend(cause);
            }
        }
        Unclaimed {
            view,
            account,
            claimed,
        }
    }

    /// The Spark application, unless its micro-batches are a loop of the engine.
    fn batch_application(&self) -> Option<&'a Application> {
        let app = self.view.job.spark.as_deref();
        app.filter(|app| !app.is_streaming())
    }

    fn parts(&self) -> impl Iterator<Item = (usize, &'a Part)> {
        let parts = self.account.parts.iter().enumerate();
        parts.filter(|(_, p)| p.finding.is_none())
    }

    /// Whether a finding claims part of the time of a stage.
    fn is_claimed(&self, stage: usize) -> bool {
        self.claimed.contains_key(&stage)
    }

    /// Whether a finding of a cause claims part of the time of a stage.
    fn is_claimed_by(&self, stage: usize, cause: Cause) -> bool {
        self.claimed
            .get(&stage)
            .is_some_and(|causes| causes.contains(&cause))
    }

    fn by_stage(&self, kinds: &[SegmentKind]) -> BTreeMap<usize, Parts> {
        let mut stages: BTreeMap<usize, Parts> = BTreeMap::new();
        for (at, part) in self.parts().filter(|(_, p)| kinds.contains(&p.kind)) {
            if let Some(stage) = part.stage {
                stages
                    .entry(stage)
                    .or_default()
                    .push((at, part.span.seconds()));
            }
        }
        stages
    }

    /// Evidence of the account for the costliest of some parts.
    fn evidence(&self, parts: &[(usize, f64)]) -> Vec<Evidence> {
        let mut parts: Vec<&(usize, f64)> = parts.iter().collect();
        parts.sort_by(|a, b| b.1.total_cmp(&a.1));
        let shown = parts.into_iter().take(NAMED_STAGES);
        shown
            .filter_map(|(at, _)| self.account.parts[*at].evidence.first().cloned())
            .collect()
    }
}

/// Turns unclaimed time into findings: the largest excess first, until the rest is too small to matter. An excess of a
/// cause with a finding is added to that finding. Places that rules left undecided, or attributed to a cause with too little cost,
/// are skipped.
pub(crate) fn claim(
    view: &View<'_>,
    account: &mut Account,
    claimed: &mut Claimed,
    examined: &[Examination],
) {
    let Some(run) = view.run.as_ref().filter(|_| !view.failed()) else {
        return;
    };
    let least = (view.limit(&MIN_SHARE) * run.elapsed_s).max(LEAST_UNKNOWN_S);
    let attributed: Vec<&str> = examined
        .iter()
        .filter(|e| e.cause == Cause::SlowMachine)
        .flat_map(|e| &e.attributed)
        .filter_map(|(_, stage)| stage.as_deref())
        .collect();
    // after an excess is claimed, the rest of its stages counts as needed
    let mut done: Vec<(Cause, Option<usize>)> = Vec::new();
    loop {
        let unclaimed = Unclaimed::of(view, account, &claimed.findings);
        let mut causes = claimed.findings.iter().map(|c| c.finding.cause);
        let slow_machine = causes.any(|c| c == Cause::SlowMachine);
        let excesses = all(&unclaimed, slow_machine).into_iter();
        let known = excesses.filter(|e| {
            let named = e.stages.first().map(|s| view.name(*s));
            let explained = named.is_some_and(|name| attributed.contains(&name));
            let again = done.contains(&(e.cause, e.stages.first().copied()));
            !again && (e.cause != Cause::UnexplainedStraggler || !explained)
        });
        let Some(largest) = known.max_by(|a, b| a.seconds().total_cmp(&b.seconds())) else {
            break;
        };
        if largest.seconds() < least {
            break;
        }
        done.push((largest.cause, largest.stages.first().copied()));
        add(view, account, claimed, largest, run.elapsed_s);
    }
    let known = |cause| claimed.findings.iter().any(|c| c.finding.cause == cause);
    let growing = streams::state(view).filter(|c| !known(c.finding.cause));
    claimed.findings.extend(growing);
    claimed.sort(account);
}

/// Every excess in the unclaimed parts. With a `slow_machine` among the findings, stragglers on similar data belong to it.
fn all(unclaimed: &Unclaimed<'_>, slow_machine: bool) -> Vec<Excess> {
    let of_stages = [
        loops::excess(unclaimed),
        lineage::excess(unclaimed),
        streams::overhead(unclaimed),
        streams::growth(unclaimed),
        scans::excess(unclaimed),
        late::excess(unclaimed),
        distinct::excess(unclaimed),
        files::excess(unclaimed),
        application::excess(unclaimed),
        startup::excess(unclaimed),
        slots::excess(unclaimed),
        work::garbage(unclaimed),
        work::spilling(unclaimed),
        work::fetching(unclaimed),
        work::retries(unclaimed),
        work::expressions(unclaimed),
    ];
    let stragglers = straggler::excesses(unclaimed, slow_machine);
    let found = of_stages.into_iter().flatten().chain(stragglers);
    let found = found.chain(waits::excesses(unclaimed).into_iter().flatten());
    found.filter(|e| e.seconds() > 0.0).collect()
}

fn add(view: &View<'_>, account: &mut Account, claimed: &mut Claimed, e: Excess, elapsed_s: f64) {
    let seconds = e.seconds();
    let position = claimed
        .findings
        .iter()
        .position(|c| c.finding.cause == e.cause);
    let index = position.unwrap_or(claimed.findings.len());
    account.take_parts(index, &e.parts);
    claimed.avoidable_s = Some(claimed.avoidable_s.unwrap_or(0.0) + seconds);
    if let Some(known) = position.map(|at| &mut claimed.findings[at]) {
        return extend(view, known, e, seconds, elapsed_s);
    }
    let share = (seconds / elapsed_s).min(1.0);
    let first = e.stages.first().copied();
    let mut found = Candidate::new(view, e.cause, first, e.summary, e.evidence);
    let finding = &mut found.finding;
    finding.severity = severity(Some(share), false);
    finding.confidence = e.certainty;
    let only = first.filter(|_| e.stages.len() == 1);
    finding.script_lines = crate::located::lines(view, e.cause, only);
    finding.impact = Some(Impact {
        seconds_saved: seconds,
        share_of_elapsed: Some(share),
        method: e.method.to_owned(),
        vertex_hours_saved: None,
    });
    claimed.findings.push(Candidate {
        strength: e.certainty,
        at_most: share,
        ..found
    });
}

/// Adds further places of a cause to its finding.
fn extend(view: &View<'_>, known: &mut Candidate, e: Excess, seconds: f64, elapsed_s: f64) {
    let finding = &mut known.finding;
    let own = finding.stage.as_deref();
    let place = match e.stages.as_slice() {
        [] => Some(text!("其他地方", "elsewhere")),
        stages if stages.iter().all(|s| Some(view.name(*s)) == own) => None,
        stages => Some(text!(
            "{stages} ",
            "in {stages}",
            stages = stages_named(view, stages)
        )),
    };
    if let Some(place) = place {
        let more = text!(
            "；{place}还有 {time}（{share}）",
            "; {time} more ({share}) {place}",
            place = place,
            time = Seconds(seconds),
            share = Share(view.share_of_total(seconds).unwrap_or(seconds / elapsed_s)),
        );
        finding.summary.push_str(more.pick(view.language));
    }
    known.evidence.extend(e.evidence);
    if let Some(impact) = &mut finding.impact {
        impact.seconds_saved += seconds;
        let share = impact.share_of_elapsed.unwrap_or(0.0) + seconds / elapsed_s;
        impact.share_of_elapsed = Some(share);
        finding.severity = severity(Some(share), false);
    }
}

/// The names of stages in a sentence; many are counted.
fn stages_named(view: &View<'_>, stages: &[usize]) -> Text {
    let names: Vec<&str> = stages.iter().map(|s| view.name(*s)).collect();
    text!("{names}", "{names}", names = FewNames(&names))
}

impl Claimed {
    /// Sorts the findings for the report, drops findings that only follow from others, and renumbers the claims on the parts.
    fn sort(&mut self, account: &mut Account) {
        let mut order: Vec<usize> = (0..self.findings.len()).collect();
        let all: Vec<&Candidate> = self.findings.iter().collect();
        order.retain(|at| !weigh::wastes_for(&self.findings[*at], &all));
        order.sort_by(|a, b| weigh::rank(&self.findings[*a], &self.findings[*b]));
        account.renumber(|old| order.iter().position(|at| *at == old));
        for (_, by) in &mut self.explained {
            *by = order.iter().position(|at| at == by).unwrap_or(0);
        }
        let mut findings: Vec<Option<Candidate>> = self.findings.drain(..).map(Some).collect();
        self.findings = order
            .into_iter()
            .filter_map(|at| findings[at].take())
            .collect();
    }
}
