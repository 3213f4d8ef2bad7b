//! `scopeagent whatif`: time and cost of a run with other resources, more input or findings fixed.

use std::path::{Path, PathBuf};

use diagnosis::whatif::Resource;
use report::Report;
use server::whatif::{Asked, Told, replay};
use server::{Result, error};

use crate::args::{Format, WhatIf as Args};
use crate::config::Config;
use crate::exit::Exit;
use crate::render;
use crate::session;
use crate::sources;
use crate::terminal::Terminal;

pub(crate) fn run(args: &Args, config: &Config, terminal: &Terminal) -> Result<Exit> {
    let (place, report) = place(&args.run, config)?;
    let progress = terminal.progress("reading");
    let opened = sources::open(&place)?;
    let folder = opened.as_ref().map_or(&place, |opened| &opened.path);
    let settings = session::thresholds(config)?;
    let language = config.language.unwrap_or(report::interface());
    let asked = Asked {
        count: args.tokens.or(args.executors),
        cores: args.cores.map(|n| n as usize),
        input: args.input,
        fix: args.fix.clone(),
        set: args.set.clone(),
    };
    let replayed = replay(folder, &settings, &asked, report.as_ref(), language);
    drop(progress);
    let replayed = replayed?;
    fits(args, replayed.resource)?;
    let job = replayed.job.info.name.as_deref().unwrap_or(&args.run);
    let told = Told {
        replayed: &replayed,
        price: args.price,
        language,
    };
    terminal.out(&args.target).write(&match args.format {
        Format::Json => super::json(&render::whatif::Answer::of(job, &told))?,
        Format::Text => render::whatif::render(job, &told),
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
    let row = super::runs::find(&store, name)?;
    let report = super::runs::report(&store, &row.run_id)?;
    Ok((PathBuf::from(&row.job), Some(report)))
}

/// Checks that the options are those of the job's resource.
fn fits(args: &Args, resource: Resource) -> Result<()> {
    let is_spark = resource != Resource::Tokens;
    if !is_spark && (args.executors.is_some() || args.cores.is_some() || !args.set.is_empty()) {
        return Err(error!(
            Usage: "SCOPE 和 U-SQL 作业没有 Executor，也没有 Spark 设置", "a SCOPE or U-SQL job has no executors and no Spark settings";
            "用 --tokens", "use --tokens"
        ));
    }
    if is_spark && args.tokens.is_some() {
        return Err(error!(
            Usage: "Spark 应用没有令牌", "a Spark application has no tokens";
            "用 --executors 或 --cores", "use --executors or --cores"
        ));
    }
    Ok(())
}
