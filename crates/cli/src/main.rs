//! The program `scopeagent`: arguments, configuration, progress, rendering, exit statuses.
//!
//! The only crate that prints, reads the environment or exits.

mod args;
mod budget;
mod command;
mod config;
mod embedding;
mod exit;
mod json;
mod keys;
mod log;
mod notify;
mod pipeline;
mod render;
mod safe;
mod session;
mod sources;
mod terminal;
mod worker;

use std::process::ExitCode;

use args::{Cli, Command};
use exit::Exit;
use server::Result;
use terminal::Terminal;

fn main() -> ExitCode {
    keep_large_writes_errors();
    report::set_interface(args::language_of_call(std::env::args_os().skip(1)));
    let (cli, worker) = match Cli::read(std::env::args_os()).and_then(Cli::into_worker) {
        Ok(read) => read,
        Err(status) => std::process::exit(status),
    };
    let terminal = Terminal::new(&cli.global);
    log::keep_guarded_panics_quiet();
    let exit = run(&cli, worker.as_ref(), &terminal).unwrap_or_else(|error| {
        terminal.fail(&error);
        error.kind.into()
    });
    exit.into()
}

/// Has a write beyond the limit of a file's size (`ulimit -f`) fail with an error, which is reported like a full disk,
/// where the signal would end the process.
#[cfg(unix)]
fn keep_large_writes_errors() {
    const SIGXFSZ: i32 = 25;
    let noted = std::sync::Arc::default();
    // without a handler, the signal keeps its usual effect
    let _ = signal_hook::flag::register(SIGXFSZ, noted);
}

#[cfg(not(unix))]
fn keep_large_writes_errors() {}

/// Runs a command, or, within the limits of a worker, works for another process that runs it.
fn run(cli: &Cli, limits: Option<&args::Worker>, terminal: &Terminal) -> Result<Exit> {
    let explicit = cli.global.config.as_deref();
    let (config, layers) = match &cli.command {
        // They repair a configuration that cannot be loaded.
        Command::Trust(_) | Command::Init(_) => Default::default(),
        command => config::load(explicit, cli.flags(), &command.jobs())?,
    };
    if let Some(language) = config.language {
        report::set_interface(language);
    }
    if let Some(limits) = limits {
        return worker::run(limits, &config);
    }
    match &cli.command {
        Command::Worker(_) => Ok(Exit::Usage),
        Command::Analyze(args) => command::analyze::run(args, &config, terminal),
        Command::Batch(args) => command::batch::run(args, &config, terminal),
        Command::Ask(args) => command::ask::run(args, &config, terminal),
        Command::History(args) => command::history::run(args, &config, terminal),
        Command::WhatIf(args) => command::whatif::run(args, &config, terminal),
        Command::Compare(args) => command::compare::run(args, &config, terminal),
        Command::Inspect(args) => command::inspect::run(args, terminal),
        Command::Search(args) => command::search::run(args, &config, terminal),
        Command::Lint(args) => command::lint::run(args, &config, terminal),
        Command::Eval(args) => command::eval::run(args, &config, terminal),
        Command::Doctor(args) => command::doctor::run(args, &config, terminal),
        Command::Trust(args) => command::trust::run(args, terminal),
        Command::Init(args) => command::init::run(args, terminal),
        Command::Completions { shell } => command::init::completions(*shell, terminal),
        Command::Man { dir } => command::init::man(dir.as_deref(), terminal),
        Command::Index(args) => command::index::run(args, &config, terminal),
        Command::Rules(args) => command::rules::run(args, &config, terminal),
        Command::Runs(args) => command::runs::run(args, cli.global.lang, &config, terminal),
        Command::Feedback(args) => command::feedback::run(args, &config, terminal),
        Command::Serve(args) => command::serve::run(args, &config, terminal),
        Command::Fix(args) => command::fix::run(args, &config, terminal),
        Command::Schema { target } => command::init::schema(target, terminal),
        Command::Skill { target } => terminal
            .out(target)
            .write(include_str!("../../../docs/skill.md"))
            .map(|()| Exit::Success),
        Command::Mcp(args) => command::mcp::run(args, &config, terminal),
        Command::Knowledge(command) => command::knowledge::run(command, &config, terminal),
        Command::Case(command) => command::case::run(command, &config, terminal),
        Command::Config(command) => command::config::run(command, &layers, &config, terminal),
    }
}
