//! The tables, in Markdown.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use super::fit::Judged;
use super::score::{Scored, calibration_error};
use super::{Cause, Failure, Way, fit, ways};

const BEGIN: &str = "<!-- begin of the tables -->";
const END: &str = "<!-- end of the tables -->";

/// Replaces the tables in a document.
pub(crate) fn replace(path: &Path, text: &str) -> Result<(), Failure> {
    let old = std::fs::read_to_string(path)?;
    let (head, rest) = old.split_once(BEGIN).ok_or("no begin of the tables")?;
    let (_, tail) = rest.split_once(END).ok_or("no end of the tables")?;
    Ok(std::fs::write(
        path,
        format!("{head}{BEGIN}\n{text}{END}{tail}"),
    )?)
}

pub(crate) fn text(by_mechanism: &[Scored], mixed: &[Scored], seed: u64) -> String {
    let weights = left_out(by_mechanism);
    let mut out = format!("Seed {seed}, commit {}, {}.\n\n", git("%h"), git("%as"));
    if !mixed.is_empty() {
        out.push_str(&totals(mixed, &weights));
    }
    if !by_mechanism.is_empty() {
        out.push_str(&by_cause(by_mechanism, &weights));
        out.push_str(&by_way(by_mechanism));
    }
    out
}

fn git(format: &str) -> String {
    let run = std::process::Command::new("git")
        .args(["log", "-1", &format!("--format={format}")])
        .output();
    run.map_or_else(
        |_| "unknown".into(),
        |o| String::from_utf8_lossy(&o.stdout).trim().to_owned(),
    )
}

/// Weights fitted without each mechanism, and (under the empty name) with all of them.
fn left_out(scored: &[Scored]) -> BTreeMap<String, fit::Weights> {
    let names = ways().into_iter().map(|w| w.name.to_owned());
    let without = |name: &String| {
        let others = scored.iter().filter(|s| !s.mechanisms.contains(name));
        fit::fit(others.flat_map(|s| &s.judged))
    };
    let names = names.chain([String::new()]);
    names.map(|name| (name.clone(), without(&name))).collect()
}

/// Findings with the weights that were fitted without their mechanism.
fn judged<'a>(
    scored: impl Iterator<Item = &'a Scored>,
    weights: &BTreeMap<String, fit::Weights>,
) -> Vec<(&'a Judged, fit::Weights)> {
    let of = |s: &Scored| {
        let name = s.mechanisms.first().cloned().unwrap_or_default();
        weights.get(&name).copied().unwrap_or_default()
    };
    scored
        .flat_map(|s| s.judged.iter().map(move |j| (j, of(s))))
        .collect()
}

/// Wilson's 95 % interval of a share.
fn wilson(hits: usize, all: usize) -> Option<(f64, f64)> {
    const Z: f64 = 1.96;
    let (n, p) = (all as f64, hits as f64 / (all as f64));
    let center = p + Z * Z / (2.0 * n);
    let spread = Z * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt();
    let scale = 1.0 + Z * Z / n;
    (all > 0).then(|| ((center - spread) / scale, (center + spread) / scale))
}

/// `.93 (.90–.95), 186 of 200`.
fn share(hits: usize, all: usize) -> String {
    let digits = |x: f64| {
        let text = format!("{x:.2}");
        text.strip_prefix('0').map_or(text.clone(), str::to_owned)
    };
    match wilson(hits, all) {
        None => "–".into(),
        Some((low, high)) => format!(
            "{} ({}–{}), {hits} of {all}",
            digits(hits as f64 / all as f64),
            digits(low.max(0.0)),
            digits(high.min(1.0)),
        ),
    }
}

fn count(scored: &[&Scored], test: impl Fn(&Scored) -> bool) -> usize {
    scored.iter().filter(|s| test(s)).count()
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

fn number(value: Option<f64>) -> String {
    value.map_or_else(|| "–".into(), |v| format!("{v:.2}"))
}

fn totals(mixed: &[Scored], weights: &BTreeMap<String, fit::Weights>) -> String {
    let all: Vec<&Scored> = mixed.iter().collect();
    let sick: Vec<&Scored> = all.iter().copied().filter(|s| !s.is_healthy()).collect();
    let healthy: Vec<&Scored> = all.iter().copied().filter(|s| s.is_healthy()).collect();
    let problem: Vec<&Scored> = all
        .iter()
        .copied()
        .filter(|s| s.truth == "problem")
        .collect();
    let withheld: Vec<&Scored> = all
        .iter()
        .copied()
        .filter(|s| s.kind == "withheld")
        .collect();
    let ece = calibration_error(judged(mixed.iter(), weights).into_iter());
    let impact = median(mixed.iter().flat_map(|s| s.impact.clone()).collect());
    let rows = [
        (
            "problem jobs: all causes found, none invented",
            share(count(&problem, Scored::right), problem.len()),
        ),
        (
            "problem jobs: all causes found",
            share(count(&problem, |s| s.missed.is_empty()), problem.len()),
        ),
        (
            "problem jobs: none invented",
            share(count(&problem, |s| s.invented.is_empty()), problem.len()),
        ),
        (
            "healthy jobs called healthy",
            share(count(&healthy, Scored::right), healthy.len()),
        ),
        (
            "sick jobs called healthy",
            share(count(&sick, Scored::dismissed), sick.len()),
        ),
        (
            "jobs with withheld files: information called insufficient",
            share(count(&withheld, |s| s.verdict == s.truth), withheld.len()),
        ),
        (
            "verdicts right",
            share(count(&all, |s| s.verdict == s.truth), all.len()),
        ),
        ("expected calibration error", number(ece)),
        (
            "saving: median of \\|ln(estimate / truth)\\|",
            number(impact),
        ),
        (
            "joint saving of two causes: the same",
            number(median(mixed.iter().filter_map(|s| s.joint).collect())),
        ),
    ];
    let mut out = format!(
        "{} jobs of held-out mechanisms:\n\n| | share (95 %) |\n|---|---|\n",
        all.len()
    );
    for (name, value) in rows {
        let _ = writeln!(out, "| {name} | {value} |");
    }
    out.push('\n');
    out
}

/// Jobs of one cause, or all.
struct Row<'a> {
    name: String,
    sick: Vec<&'a Scored>,
    near: Vec<&'a Scored>,
}

fn by_cause(scored: &[Scored], weights: &BTreeMap<String, fit::Weights>) -> String {
    let mut rows: Vec<Row<'_>> = Vec::new();
    let known = ways();
    let way = |s: &Scored| {
        let name = s.mechanisms.first();
        known
            .iter()
            .find(|w| Some(w.name) == name.map(String::as_str))
    };
    // A job that failed on a limit lists the reason first, which has the same mechanism.
    for s in scored {
        let Some(way) = way(s) else { continue };
        let name = way.cause.code().to_owned();
        if rows.last().is_none_or(|r| r.name != name) && !rows.iter().any(|r| r.name == name) {
            rows.push(Row {
                name: name.clone(),
                sick: Vec::new(),
                near: Vec::new(),
            });
        }
        if let Some(row) = rows.iter_mut().find(|r| r.name == name) {
            if way.near_miss {
                &mut row.near
            } else {
                &mut row.sick
            }
            .push(s);
        }
    }
    rows.push(Row {
        name: "all".into(),
        sick: rows.iter().flat_map(|r| r.sick.clone()).collect(),
        near: rows.iter().flat_map(|r| r.near.clone()).collect(),
    });
    let mut out = String::from(
        "By cause, tuned and held-out mechanisms alike:\n\n| cause | found, none invented | found | near misses called healthy | saving | calibration error |\n|---|---|---|---|---|---|\n",
    );
    for row in &rows {
        let found = count(&row.sick, |s| s.missed.is_empty());
        let all = row.sick.iter().chain(&row.near).copied();
        let _ = writeln!(
            out,
            "| {} | {} | {found} | {} | {} | {} |",
            row.name,
            share(count(&row.sick, Scored::right), row.sick.len()),
            share(count(&row.near, Scored::right), row.near.len()),
            number(median(
                row.sick.iter().flat_map(|s| s.impact.clone()).collect()
            )),
            number(calibration_error(judged(all, weights).into_iter())),
        );
    }
    out.push('\n');
    out
}

/// Wrong causes, with their counts.
fn instead(scored: &[&Scored]) -> String {
    let mut said: BTreeMap<String, usize> = BTreeMap::new();
    for s in scored.iter().filter(|s| !s.right()) {
        let words = if s.invented.is_empty() {
            s.verdict.clone()
        } else {
            s.invented.join(" + ")
        };
        *said.entry(words).or_default() += 1;
    }
    let said: Vec<String> = said.iter().map(|(what, n)| format!("{n} {what}")).collect();
    said.join(", ")
}

fn by_way(scored: &[Scored]) -> String {
    let mut out = String::from(
        "By mechanism (*: rules were tuned on it):\n\n| cause | mechanism | right | otherwise |\n|---|---|---|---|\n",
    );
    let line = |way: &Way| {
        let of: Vec<&Scored> = scored
            .iter()
            .filter(|s| s.mechanisms.iter().any(|m| m == way.name))
            .collect();
        let near = if way.near_miss { "not " } else { "" };
        let tuned = if way.tuned { " *" } else { "" };
        (!of.is_empty()).then(|| {
            format!(
                "| {near}{} | `{}`{tuned} | {} of {} | {} |\n",
                Cause::code(way.cause),
                way.name,
                count(&of, Scored::right),
                of.len(),
                instead(&of)
            )
        })
    };
    out.extend(ways().iter().filter_map(line));
    out
}
