//! `scopeagent ask`: a question about a saved run.

use std::fmt::Write as _;

use agent::Silent;
use render::layout::wrap;
use report::visible;
use server::{Answered, Question, ReasonerChoice, Result};
use tokio_util::sync::CancellationToken;

use crate::args::Ask;
use crate::config::Config;
use crate::exit::Exit;
use crate::session;
use crate::terminal::Terminal;

pub(crate) fn run(args: &Ask, config: &Config, terminal: &Terminal) -> Result<Exit> {
    let runtime = session::runtime()?;
    let session = session::open(config, terminal, &runtime)?;
    let question = Question {
        run: super::runs::find(&super::runs::open(config)?, &args.run)?.run_id,
        text: args.question.clone(),
        reasoner: ReasonerChoice {
            mode: args.reasoner,
            profile: args.llm.clone(),
            redact: args.redact,
            no_fallback: args.no_fallback,
            ..ReasonerChoice::default()
        },
        save: !args.no_store,
        cancel: CancellationToken::new(),
    };
    session::cancel_on_interrupt(runtime.handle(), question.cancel.clone());
    let answered = session.ask(&question, &mut Silent)?;
    super::show(terminal, args.format, &answered, || text(&answered))?;
    Ok(Exit::Success)
}

/// The answer, then where its numbers were read.
fn text(answered: &Answered) -> String {
    let columns = crate::render::layout::stdout_width();
    let mut out = String::new();
    let mut line = |text: &str, first: &str, rest: &str| {
        for line in wrap(&visible(text), columns, first, rest) {
            // Writing to a string cannot fail.
            let _ = writeln!(out, "{line}");
        }
    };
    for paragraph in answered.text.lines() {
        line(paragraph, "", "");
    }
    for e in &answered.evidence {
        let place = e.source.locator.as_deref().unwrap_or_default();
        let text = format!("{} {}  [{} {place}]", e.id, e.text, e.source.file);
        line(&text, "  · ", "    ");
    }
    out
}
