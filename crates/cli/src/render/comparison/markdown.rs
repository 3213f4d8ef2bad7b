//! A comparison for a ticket.

use std::fmt::{self, Write as _};

use report::format::{INPUT, STAGE};
use runs::compare::{Comparison, RunHeader, ScriptChange};

use super::{
    change, duration, estimates, finding_cost, input_name, input_numbers, known, percent,
    stage_marks, stage_numbers, time_of, totals,
};
use crate::render::markdown::{cell, escaped};
use crate::render::words::Words;

/// Renders a comparison; with `all`, unchanged stages too.
pub(crate) fn render(comparison: &Comparison, all: bool) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write_all(&mut out, comparison, all);
    out
}

fn write_all(out: &mut String, c: &Comparison, all: bool) -> fmt::Result {
    let words = Words(c.language);
    writeln!(out, "# {}\n", escaped(&c.headline))?;
    write_run(out, "A", &c.a, words)?;
    write_run(out, "B", &c.b, words)?;
    if !c.same_job {
        writeln!(out, "\n**{}**", words.other_job())?;
    }
    writeln!(out, "\n## {}\n", words.why())?;
    for reason in &c.reasons {
        let share = reason
            .share
            .map(|s| format!(" · {} {}", percent(s, words), words.of_the_difference()))
            .unwrap_or_default();
        let confidence = percent(reason.confidence, words);
        writeln!(
            out,
            "- {}{share} · {} {confidence}",
            escaped(&reason.text),
            words.confidence()
        )?;
    }
    if !c.findings.is_empty() {
        writeln!(
            out,
            "\n## {}\n\n| | | | |\n|---|---|---|---|",
            words.findings()
        )?;
        for finding in &c.findings {
            let place = finding.stage.as_deref().unwrap_or(words.whole_job());
            writeln!(
                out,
                "| {} | `{}` | {} | {} |",
                words.finding_status(finding.status),
                finding.cause,
                cell(place),
                finding_cost(finding, words)
            )?;
        }
    }
    writeln!(
        out,
        "\n## {}\n\n| | A | B | |\n|---|--:|--:|--:|",
        words.the_whole_job()
    )?;
    for row in totals(c, words) {
        writeln!(
            out,
            "| {} | {} | {} | {} |",
            row.label, row.a, row.b, row.change
        )?;
    }
    write_stages(out, c, all, words)?;
    write_plan(out, c, words)?;
    write_inputs(out, c, words)?;
    if !c.estimates.is_empty() {
        writeln!(
            out,
            "\n## {}\n\n| {} | A | B |\n|---|--:|--:|",
            words.estimates(),
            words.operator()
        )?;
        for change in &c.estimates {
            let [a, b] = estimates(change, words);
            writeln!(
                out,
                "| {}/{} | {a} | {b} |",
                cell(&change.stage),
                cell(&change.operator)
            )?;
        }
    }
    writeln!(out, "\n## {}\n", words.script())?;
    match &c.script {
        ScriptChange::Same => writeln!(out, "{}", words.script_same())?,
        ScriptChange::Unknown => writeln!(out, "{}", words.script_unknown())?,
        ScriptChange::Changed { diff, .. } => {
            writeln!(out, "```diff\n{}\n```", diff.trim_end())?;
        }
    }
    if !c.not_compared.is_empty() {
        writeln!(out, "\n## {}\n", words.not_compared())?;
        for gap in &c.not_compared {
            writeln!(out, "- {}", escaped(&gap.reason))?;
        }
    }
    Ok(())
}

fn write_run(out: &mut String, name: &str, run: &RunHeader, words: Words) -> fmt::Result {
    let time = run.elapsed_seconds.map(|s| duration(s, words));
    let time = time.unwrap_or_default();
    let place = match &run.run_id {
        Some(id) => format!("{} `{id}`", words.run()),
        None => format!("`{}`", run.path),
    };
    writeln!(
        out,
        "- **{name}** {} · {} · {time} · {} · {place}",
        escaped(&run.name),
        words.state(run.state),
        words.verdict(run.verdict, &run.causes)
    )
}

fn write_stages(out: &mut String, c: &Comparison, all: bool, words: Words) -> fmt::Result {
    writeln!(
        out,
        "\n## {}\n\n| {} | A | B | | |\n|---|--:|--:|--:|---|",
        words.stages_heading(),
        words.stage()
    )?;
    let shown: Vec<_> = c.stages.iter().filter(|s| all || s.notable).collect();
    for stage in &shown {
        let time = time_of(stage);
        let mut facts = stage_marks(stage, words);
        facts.extend(stage_numbers(stage, words));
        writeln!(
            out,
            "| {} | {} | {} | {} | {} |",
            cell(
                stage
                    .b
                    .as_ref()
                    .or(stage.a.as_ref())
                    .map_or("", String::as_str)
            ),
            known(time.a, duration, words),
            known(time.b, duration, words),
            change(time, words),
            cell(&facts.join("; "))
        )?;
    }
    let rest = c.stages.len() - shown.len();
    if rest > 0 {
        let text = super::rest(rest, STAGE, words.stages_alike(), words);
        writeln!(out, "\n{text}")?;
    }
    Ok(())
}

fn write_plan(out: &mut String, c: &Comparison, words: Words) -> fmt::Result {
    if c.plan.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "\n## {}\n\n| | | A | B |\n|---|---|---|---|",
        words.plan()
    )?;
    for change in &c.plan {
        let cell_of = |text: &Option<String>| cell(text.as_deref().unwrap_or("–"));
        writeln!(
            out,
            "| {} | {} | {} | {} |",
            words.plan_change(change.kind),
            cell(&change.place),
            cell_of(&change.a),
            cell_of(&change.b)
        )?;
    }
    Ok(())
}

fn write_inputs(out: &mut String, c: &Comparison, words: Words) -> fmt::Result {
    if c.inputs.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n## {}\n", words.inputs())?;
    let mut alike = 0;
    for input in &c.inputs {
        let numbers = input_numbers(input, words).join("; ");
        if numbers.is_empty() {
            alike += 1;
            continue;
        }
        writeln!(out, "- {}: {numbers}", escaped(&input_name(input, words)))?;
    }
    if alike > 0 {
        let text = super::rest(alike, INPUT, words.inputs_alike(), words);
        writeln!(out, "- {text}")?;
    }
    Ok(())
}
