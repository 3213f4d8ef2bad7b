//! `scopeagent whatif`: time and cost of a run with other resources, more input or findings fixed.

use std::path::{Path, PathBuf};

use diagnosis::Diagnosis;
use diagnosis::whatif::{Change, Resource, WhatIf};
use job::Catalogue;
use job::model::SHUFFLE_PARTITIONS;
use report::{Report, say};
use server::{Error, ErrorKind, Explain, Result, unanswerable};

use crate::args::{Amount, Format, WhatIf as Args};
use crate::config::Config;
use crate::exit::Exit;
use crate::render;
use crate::session;
use crate::sources;
use crate::terminal::Terminal;

/// Points of a range that the user asks for.
const RANGE_POINTS: usize = 8;

pub(crate) fn run(args: &Args, config: &Config, terminal: &Terminal) -> Result<Exit> {
    let (place, report) = place(&args.run, config)?;
    let progress = terminal.progress("reading");
    let opened = sources::open(&place)?;
    let folder = opened.as_ref().map_or(&place, |opened| &opened.path);
    let hint = say!(
        "作业须仍在原处：重新读取它才能重放",
        "the job must still be there: its files are read again for the replay"
    );
    let job = job::load(folder).explain(ErrorKind::Input, hint)?;
    let settings = session::thresholds(config)?;
    let language = config.language.unwrap_or(report::interface());
    let (found, run) = diagnosis::what_if(&job, &Catalogue::builtin(), &settings, language);
    drop(progress);
    let run = run.map_err(|why| unanswerable(why, &[], "--fix"))?;
    let findings: Vec<String> = found.findings.iter().map(|f| f.id.clone()).collect();
    let change = change(args, &run, report.as_ref(), &found, &findings)?;
    let failed = |why| unanswerable(why, &findings, "--fix");
    let mut counts = counts(args, &change, &run);
    if counts.is_empty() && change != Change::default() {
        counts.push(run.now());
    }
    let at = |count| {
        let count = Some(count);
        run.at(&Change {
            count,
            ..change.clone()
        })
    };
    let asked: std::result::Result<_, _> = counts.iter().copied().map(at).collect();
    let answer = render::whatif::Answer {
        job: job.info.name.clone().unwrap_or_else(|| args.run.clone()),
        now: run.at(&Change::default()).map_err(failed)?,
        asked: asked.map_err(failed)?,
        curve: run.curve(&change, &counts).map_err(failed)?,
        is_changed: change != Change::default(),
        price: args.price,
    };
    terminal.out(&args.target).write(&match args.format {
        Format::Json => super::json(&answer)?,
        Format::Text => render::whatif::render(&answer, language, &job),
    })?;
    Ok(Exit::Success)
}

/// The job of a saved run with its report, or a job by its place.
fn place(name: &str, config: &Config) -> Result<(PathBuf, Option<Report>)> {
    let path = Path::new(name);
    if path.exists() || batch::Sources::opens(name) {
        return Ok((path.to_owned(), None));
    }
    let store = super::runs::open(config)?;
    let row = store.run(name)?;
    let report = super::runs::report(&store, &row.run_id)?;
    Ok((PathBuf::from(&row.job), Some(report)))
}

fn change(
    args: &Args,
    run: &WhatIf,
    report: Option<&Report>,
    found: &Diagnosis,
    findings: &[String],
) -> Result<Change> {
    let mut change = Change {
        cores: args.cores.map(|n| n as usize),
        input: args.input.0,
        ..Change::default()
    };
    let is_spark = run.resource() != Resource::Tokens;
    for id in &args.fix {
        let fixed = finding(id, report, findings)?;
        let named =
            report.and_then(|r| r.suggestions.iter().find(|s| s.id.eq_ignore_ascii_case(id)));
        let of_finding = found.suggestions.iter().map(|s| &s.suggestion);
        let of_finding =
            of_finding.filter(|s| s.finding.as_ref() == findings.get(fixed) && named.is_none());
        let settings = named
            .into_iter()
            .chain(of_finding)
            .flat_map(|s| &s.settings);
        // settings of resources are the fix: the saving of the finding would count them twice
        let resources = settings.filter(|s| s.key != SHUFFLE_PARTITIONS && is_spark);
        let sets: Vec<bool> = resources
            .map(|s| set(&mut change, run.resource(), &s.key, &s.suggested))
            .collect();
        if !sets.contains(&true) {
            change.fixed.push(fixed);
        }
    }
    change.fixed.sort_unstable();
    change.fixed.dedup();
    if !is_spark && (args.executors.is_some() || args.cores.is_some() || !args.set.is_empty()) {
        return Err(usage(
            say!(
                "SCOPE 和 U-SQL 作业没有 Executor，也没有 Spark 设置",
                "a SCOPE or U-SQL job has no executors and no Spark settings"
            ),
            say!("用 --tokens", "use --tokens"),
        ));
    }
    if is_spark && args.tokens.is_some() {
        return Err(usage(
            say!("Spark 应用没有令牌", "a Spark application has no tokens"),
            say!("用 --executors 或 --cores", "use --executors or --cores"),
        ));
    }
    for setting in &args.set {
        let (key, value) = setting.split_once('=').unwrap_or((setting, ""));
        if !set(&mut change, run.resource(), key.trim(), value) {
            return Err(usage(
                say!(
                    "无法重放设置 `{setting}`",
                    "the setting `{setting}` can't be replayed"
                ),
                say!(
                    "可用 spark.sql.shuffle.partitions=N、spark.executor.instances=N、spark.executor.cores=N",
                    "spark.sql.shuffle.partitions=N, spark.executor.instances=N and spark.executor.cores=N can"
                ),
            ));
        }
    }
    Ok(change)
}

/// Applies a setting; false if it can't be replayed.
fn set(change: &mut Change, resource: Resource, key: &str, value: &str) -> bool {
    let number: Option<usize> = value.trim().parse().ok();
    let number = number.filter(|n| (1..=1_000_000).contains(n));
    let changed = match key {
        SHUFFLE_PARTITIONS => &mut change.partitions,
        "spark.executor.instances" | "spark.dynamicAllocation.maxExecutors" | "spark.cores.max" => {
            &mut change.count
        }
        "spark.executor.cores" => &mut change.cores,
        _ => return false,
    };
    let number = match (key, resource) {
        ("spark.cores.max", Resource::Executors { slots }) => {
            number.map(|cores| (cores / slots.max(1)).max(1))
        }
        _ => number,
    };
    *changed = number.or(*changed);
    number.is_some()
}

/// The counts that the user asks for, ascending.
fn counts(args: &Args, change: &Change, run: &WhatIf) -> Vec<usize> {
    let set = change.count.map(Amount::Count);
    let amount = args.tokens.or(args.executors).or(set);
    match amount {
        None => Vec::new(),
        Some(Amount::Count(count)) => vec![count],
        Some(Amount::Factor(factor)) => vec![((run.now() as f64 * factor).round() as usize).max(1)],
        Some(Amount::Range(from, to)) => {
            let ratio = to as f64 / from as f64;
            let step = |n: usize| from as f64 * ratio.powf(n as f64 / (RANGE_POINTS - 1) as f64);
            let mut counts: Vec<usize> = (0..RANGE_POINTS)
                .map(|n| step(n).round() as usize)
                .collect();
            counts.dedup();
            counts
        }
    }
}

/// Position of the finding that `id` names or that the suggestion `id` fixes.
fn finding(id: &str, report: Option<&Report>, findings: &[String]) -> Result<usize> {
    let position = |id: &str| findings.iter().position(|f| f.eq_ignore_ascii_case(id));
    let fixes = || {
        let suggestions = &report?.suggestions;
        let named = suggestions.iter().find(|s| s.id.eq_ignore_ascii_case(id))?;
        position(named.finding.as_deref()?)
    };
    position(id).or_else(fixes).ok_or_else(|| {
        let known = findings.join(", ");
        usage(
            say!(
                "没有发现或建议 `{id}`",
                "there is no finding or suggestion `{id}`"
            ),
            match findings {
                [] => say!("这个作业没有发现", "the job has no findings"),
                _ => say!(
                    "发现：{known}；建议的编号只用于已保存的运行",
                    "findings: {known}; ids of suggestions need a saved run"
                ),
            },
        )
    })
}

fn usage(error: String, hint: String) -> Error {
    Error::new(ErrorKind::Usage, error).hint(hint)
}
