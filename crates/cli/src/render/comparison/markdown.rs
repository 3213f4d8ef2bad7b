//! A comparison for a ticket.

use std::fmt::{self, Write as _};

use runs::compare::{Comparison, RunHeader, ScriptChange};

use super::{
    change, estimate_sides, finding_cost, input_name, input_numbers, known, stage_marks,
    stage_numbers, time_of, totals,
};
use crate::render::layout::duration;
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
    write_side(out, "A", &c.a, words)?;
    write_side(out, "B", &c.b, words)?;
    if !c.same_job {
        writeln!(out, "\n**{}**", words.other_job())?;
    }
    writeln!(out, "\n## {}\n", words.why())?;
    for reason in &c.reasons {
        let share = reason
            .share
            .map(|s| format!(" · {:.0} % {}", s * 100.0, words.of_the_difference()))
            .unwrap_or_default();
        let confidence = reason.confidence * 100.0;
        writeln!(
            out,
            "- {}{share} · {} {confidence:.0} %",
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
                finding_cost(finding)
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
            let [a, b] = estimate_sides(change);
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

fn write_side(out: &mut String, name: &str, side: &RunHeader, words: Words) -> fmt::Result {
    let time = side.elapsed_seconds.map(duration).unwrap_or_default();
    let place = match &side.run_id {
        Some(run) => format!("{} `{run}`", words.run()),
        None => format!("`{}`", side.path),
    };
    writeln!(
        out,
        "- **{name}** {} · {} · {time} · {} · {place}",
        escaped(&side.name),
        words.state(side.state),
        words.verdict(side.verdict)
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
        let mut told = stage_marks(stage, words);
        told.extend(stage_numbers(stage, words));
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
            known(time.a, duration),
            known(time.b, duration),
            change(time),
            cell(&told.join("; "))
        )?;
    }
    let rest = c.stages.len() - shown.len();
    if rest > 0 {
        writeln!(out, "\n{rest} {}", words.stages_alike())?;
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
        let side = |text: &Option<String>| cell(text.as_deref().unwrap_or("–"));
        writeln!(
            out,
            "| {} | {} | {} | {} |",
            words.plan_change(change.kind),
            cell(&change.place),
            side(&change.a),
            side(&change.b)
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
        writeln!(out, "- {alike} {}", words.inputs_alike())?;
    }
    Ok(())
}
