//! An inspected job on a terminal.

use std::fmt::Write as _;

use job::Catalogue;
use job::model::DiagnosticSeverity as Severity;

use super::layout::{shorten, width, wrap_names};
use super::table::{Align, Table};
use report::format::{Bytes, Seconds, Share, TOKEN};
use report::{Language, Localize, visible_line};
use server::inspection::{ApplicationView, Inspection, OperatorView, StageView};

/// Before each line of a section.
const INDENT: &str = "  ";

/// Longest list of keys or columns that a cell shows.
const CELL: usize = 32;

/// Renders a job, or one of its stages, in lines of at most `columns` where that can be done.
pub(crate) fn render(inspection: &Inspection, columns: Option<usize>) -> String {
    let mut out = head(inspection);
    let mut table = |title: &str, table: Table| {
        section(&mut out, title, &table.render_within(INDENT, columns));
    };
    table("Stages", stages(&inspection.stages));
    table("Channels", edges(inspection));
    for stage in &inspection.stages {
        let title = format!("Operators of {}", visible_line(&stage.name));
        table(&title, operators(&stage.operators));
    }
    table("Inputs", tables(inspection));
    if let Some(app) = &inspection.application {
        table("Executions", executions(app));
        table("Executors", executors(app));
        table("Settings", settings(app));
    }
    table("Script", script(inspection));
    table("Files", files(inspection, &Catalogue::default()));
    section(
        &mut out,
        "Reading problems",
        &diagnostics(inspection, columns),
    );
    out
}

fn head(inspection: &Inspection) -> String {
    let info = &inspection.info;
    let mut facts = vec![
        info.name
            .clone()
            .or_else(|| info.id.clone())
            .unwrap_or_else(|| inspection.path.clone()),
    ];
    facts.push(format!("{:?}", info.state).to_lowercase());
    facts.extend(
        info.elapsed_seconds
            .map(|s| format!("ran {}", say(Seconds(s)))),
    );
    facts.extend(
        info.queued_seconds
            .map(|s| format!("queued {}", say(Seconds(s)))),
    );
    facts.extend(info.tokens.map(|n| say(TOKEN.count(f64::from(n)))));
    let bold = anstyle::Style::new().bold();
    let facts = facts.join(" · ");
    format!("{bold}{}{bold:#}\n", visible_line(&facts))
}

fn section(out: &mut String, title: &str, body: &str) {
    if !body.is_empty() {
        let style = anstyle::Style::new().bold().underline();
        // Writing to a string cannot fail.
        let _ = write!(out, "\n{style}{title}{style:#}\n{body}");
    }
}

fn stages(stages: &[StageView]) -> Table {
    use Align::{Left, Right};
    let mut table = Table::new(&[
        ("stage", Left),
        ("vertices", Right),
        ("waves", Right),
        ("wait", Right),
        ("mean run", Right),
        ("max run", Right),
        ("max/mean run", Right),
        ("read", Right),
        ("max/mean read", Right),
        ("written", Right),
        ("gc", Right),
        ("memory", Right),
        ("", Left),
    ]);
    for stage in stages {
        let wait = stage
            .queue_ms
            .zip(stage.start_ms)
            .map(|(queue, start)| queue + start);
        let spilled = stage.spills.is_some_and(|n| n > 0);
        let marks = [
            (stage.on_critical_path, "critical path"),
            (spilled, "spills"),
        ];
        let marks: Vec<&str> = marks
            .iter()
            .filter(|(yes, _)| *yes)
            .map(|(_, mark)| *mark)
            .collect();
        table.foreign_row(vec![
            stage.name.clone(),
            number(stage.vertices.map(|n| n as f64)),
            ratio(stage.waves),
            time(wait),
            time(stage.mean_run_ms),
            time(stage.max_run_ms),
            ratio(stage.run_max_over_mean),
            size(stage.bytes_read),
            ratio(stage.read_max_over_mean),
            size(stage.bytes_written),
            stage.gc_share.map_or_else(unknown, |s| say(Share(s))),
            memory(stage),
            marks.join(", "),
        ]);
    }
    table
}

fn executions(app: &ApplicationView) -> Table {
    use Align::{Left, Right};
    let mut table = Table::new(&[
        ("execution", Right),
        ("after", Right),
        ("took", Right),
        ("stages", Left),
        ("description", Left),
    ]);
    for e in &app.executions {
        let description = e.description.as_deref().unwrap_or_default();
        table.row(vec![
            e.id.to_string(),
            time(e.started_seconds.map(|s| s * 1e3)),
            time(e.seconds.map(|s| s * 1e3)),
            shorten(&e.stages.join(", "), CELL),
            shorten(description, 2 * CELL),
        ]);
    }
    table
}

fn executors(app: &ApplicationView) -> Table {
    use Align::{Left, Right};
    let mut table = Table::new(&[
        ("executor", Left),
        ("host", Left),
        ("cores", Right),
        ("added after", Right),
        ("removed after", Right),
        ("tasks", Right),
        ("busy", Right),
        ("reason", Left),
    ]);
    for e in &app.executors {
        table.row(vec![
            e.id.clone(),
            e.host.clone(),
            number(e.cores.map(f64::from)),
            time(e.added_seconds.map(|s| s * 1e3)),
            time(e.removed_seconds.map(|s| s * 1e3)),
            number(Some(e.tasks as f64)),
            time(Some(e.busy_seconds * 1e3)),
            shorten(e.reason.as_deref().unwrap_or_default(), 2 * CELL),
        ]);
    }
    table
}

fn settings(app: &ApplicationView) -> Table {
    let mut table = Table::new(&[("setting", Align::Left), ("value", Align::Left)]);
    for (name, value) in &app.configuration {
        table.row(vec![name.clone(), shorten(value, 2 * CELL)]);
    }
    table
}

fn memory(stage: &StageView) -> String {
    match (stage.memory_peak_bytes, stage.memory_limit_bytes) {
        (Some(peak), Some(limit)) => format!("{} of {}", size(Some(peak)), size(Some(limit))),
        (peak, _) => size(peak),
    }
}

fn operators(operators: &[OperatorView]) -> Table {
    use Align::{Left, Right};
    let mut table = Table::new(&[
        ("operator", Left),
        ("kind", Left),
        ("keys", Left),
        ("lines", Left),
        ("rows", Right),
        ("max/mean", Right),
        ("estimated", Right),
        ("own time", Right),
    ]);
    for operator in operators {
        table.foreign_row(vec![
            operator.id.clone(),
            snake(&format!("{:?}", operator.kind)),
            shorten(&operator.keys.join(", "), CELL),
            operator.script_lines.map_or_else(unknown, |[a, b]| {
                if a == b {
                    a.to_string()
                } else {
                    format!("{a}–{b}")
                }
            }),
            number(operator.rows),
            ratio(operator.rows_max_over_mean),
            number(operator.estimated_rows),
            time(operator.exclusive_ms),
        ]);
    }
    table
}

fn edges(inspection: &Inspection) -> Table {
    use Align::{Left, Right};
    let mut table = Table::new(&[
        ("from", Left),
        ("to", Left),
        ("exchange", Left),
        ("keys", Left),
        ("parts", Right),
        ("rows", Right),
        ("bytes", Right),
        ("columns", Right),
    ]);
    for edge in &inspection.edges {
        table.foreign_row(vec![
            edge.from.clone(),
            edge.to.clone(),
            snake(&format!("{:?}", edge.exchange)),
            shorten(&edge.keys.join(", "), CELL),
            number(edge.partitions.map(f64::from)),
            number(edge.rows),
            size(edge.bytes),
            edge.columns.len().to_string(),
        ]);
    }
    table
}

fn tables(inspection: &Inspection) -> Table {
    use Align::{Left, Right};
    let mut table = Table::new(&[
        ("input", Left),
        ("rows", Right),
        ("bytes", Right),
        ("files", Right),
        ("layout", Left),
        ("parts", Right),
    ]);
    for input in &inspection.tables {
        table.foreign_row(vec![
            input.name.clone(),
            number(input.rows.map(|n| n as f64)),
            size(input.bytes.map(|n| n as f64)),
            number(input.files.map(|n| n as f64)),
            input.layout.clone().unwrap_or_else(unknown),
            number(input.partitions.map(|n| n as f64)),
        ]);
    }
    table
}

fn script(inspection: &Inspection) -> Table {
    use Align::Left;
    let mut table = Table::new(&[
        ("lines", Left),
        ("statement", Left),
        ("binds", Left),
        ("runs in", Left),
    ]);
    for statement in &inspection.script {
        let [first, last] = statement.lines;
        table.foreign_row(vec![
            if first == last {
                first.to_string()
            } else {
                format!("{first}–{last}")
            },
            statement.kind.clone(),
            statement.target.clone().unwrap_or_default(),
            statement.stages.join(", "),
        ]);
    }
    table
}

fn files(inspection: &Inspection, catalogue: &Catalogue) -> Table {
    use Align::{Left, Right};
    let mut table = Table::new(&[("file", Left), ("holds", Left), ("size", Right), ("", Left)]);
    for file in &inspection.files {
        let read = if file.read { "" } else { "not read" };
        table.foreign_row(vec![
            file.name.clone(),
            catalogue
                .entry(file.kind)
                .map_or_else(unknown, |entry| entry.title.en.clone()),
            size(Some(file.bytes as f64)),
            read.to_owned(),
        ]);
    }
    table
}

fn diagnostics(inspection: &Inspection, columns: Option<usize>) -> String {
    let mut out = String::new();
    let mut lines = |text: &str, first: &str| {
        let rest = " ".repeat(width(first) + INDENT.len());
        for line in wrap_names(text, columns.unwrap_or(usize::MAX), first, &rest) {
            out.push_str(&line);
            out.push('\n');
        }
    };
    for d in &inspection.diagnostics {
        let severity = match d.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        let place: Vec<&str> = [d.file.as_deref(), d.locator.as_deref()]
            .into_iter()
            .flatten()
            .collect();
        let text = format!("{severity}: {}: {}", place.join(" "), d.message.en);
        lines(&visible_line(&text), INDENT);
        if let Some(hint) = &d.hint {
            lines(&format!("hint: {}", hint.en), &INDENT.repeat(2));
        }
    }
    out
}

fn say(value: impl Localize) -> String {
    value.localize(Language::En)
}

fn unknown() -> String {
    "–".to_owned()
}

fn number(value: Option<f64>) -> String {
    value.map_or_else(unknown, |v| report::format::figure(v.round()))
}

fn ratio(value: Option<f64>) -> String {
    value.map_or_else(unknown, |v| format!("{v:.1}"))
}

fn time(ms: Option<f64>) -> String {
    ms.map_or_else(unknown, |ms| say(Seconds(ms / 1000.0)))
}

fn size(value: Option<f64>) -> String {
    value.map_or_else(unknown, |n| say(Bytes(n)))
}

/// `HashPartition` as `hash partition`.
fn snake(camel: &str) -> String {
    let mut out = String::new();
    for c in camel.chars() {
        if c.is_uppercase() && !out.is_empty() {
            out.push(' ');
        }
        out.extend(c.to_lowercase());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_names_read_naturally() {
        assert_eq!(size(Some(1536.0)), "1.5 KiB");
        assert_eq!(size(Some(12.0)), "12 B");
        assert_eq!(size(None), "–");
        assert_eq!(snake("HashPartition"), "hash partition");
    }
}
