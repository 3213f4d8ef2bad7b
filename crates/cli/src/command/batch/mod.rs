//! `scopeagent batch`: many jobs, one result object each.

mod advise;
mod metrics;
mod open;
mod plan;
mod program;
mod queue;
mod report;
mod run;
mod watch;

use server::Result;

use crate::args::BatchCommand;
use crate::config::Config;
use crate::exit::Exit;
use crate::terminal::Terminal;

pub(crate) fn run(command: &BatchCommand, config: &Config, terminal: &Terminal) -> Result<Exit> {
    match command {
        BatchCommand::Plan(args) => plan::run(args, terminal),
        BatchCommand::Run(args) => run::run(args, config, terminal),
        BatchCommand::Enqueue(args) => queue::enqueue(args, config, terminal),
        BatchCommand::Advise(args) => advise::run(args, config, terminal),
        BatchCommand::Report(args) => report::run(args, config, terminal),
        BatchCommand::Work(args) => queue::work(args, config, terminal),
    }
}
