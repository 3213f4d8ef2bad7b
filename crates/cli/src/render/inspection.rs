//! An inspected job on a terminal.

use std::fmt::Write as _;

use job::Catalogue;
use job::model::DiagnosticSeverity as Severity;

use super::layout::{shorten, width, wrap_names};
use super::table::{Align, Table, columns};
use ::render::Words;
use report::format::{Bytes, Seconds, TASK, TOKEN, VERTEX};
use report::measure::{Measure, book};
use report::{Localize, interface, say, visible_line};
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
    table(word("阶段", "Stages"), stages(inspection));
    table(word("通道", "Channels"), edges(inspection));
    for stage in &inspection.stages {
        let name = visible_line(&stage.name);
        let title = say!("{name} 的算子", "Operators of {name}");
        table(&title, operators(&stage.operators));
    }
    table(word("输入", "Inputs"), tables(inspection));
    if let Some(app) = &inspection.application {
        table(word("执行", "Executions"), executions(app));
        table(word("Executor", "Executors"), executors(app));
        table(word("设置", "Settings"), settings(app));
    }
    table(word("脚本", "Script"), script(inspection));
    table(
        word("文件", "Files"),
        files(inspection, &Catalogue::default()),
    );
    section(
        &mut out,
        word("读取时的问题", "Reading problems"),
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
    facts.push(Words::new(interface()).state(info.state).to_owned());
    let time = |s: f64| say(Seconds(s));
    let (ran, queued) = (
        info.elapsed_seconds.map(time),
        info.queued_seconds.map(time),
    );
    facts.extend(ran.map(|ran| say!("运行 {ran}", "ran {ran}")));
    facts.extend(queued.map(|queued| say!("排队 {queued}", "queued {queued}")));
    let slots = |n: u32| match inspection.application {
        Some(_) => say!("{n} 个任务槽", "{n} task slots"),
        None => say(TOKEN.count(f64::from(n))),
    };
    facts.extend(info.tokens.map(slots));
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

/// Columns of the table of stages.
const STAGE: [&Measure; 10] = [
    &book::VERTICES,
    &book::WAVES,
    &book::WAIT,
    &book::MEAN_RUN,
    &book::MAX_RUN,
    &book::RUN_MAX_OVER_MEAN,
    &book::BYTES_READ,
    &book::READ_MAX_OVER_MEAN,
    &book::BYTES_WRITTEN,
    &book::GC_SHARE,
];

/// The titles of measures as heads of columns.
fn heads(measures: &[&'static Measure]) -> impl Iterator<Item = (&'static str, Align)> {
    let titles = measures.iter().map(|measure| measure.title);
    titles.map(|title| (interface().select(title.zh, title.en), Align::Right))
}

/// The numbers of measures as cells, whose heads say what is counted.
fn cells<'a>(
    measures: &'a [&'static Measure],
    get: impl Fn(&Measure) -> Option<f64> + 'a,
) -> impl Iterator<Item = String> + 'a {
    measures
        .iter()
        .map(move |measure| get(measure).map_or_else(unknown, |number| say(measure.cell(number))))
}

fn stages(inspection: &Inspection) -> Table {
    let vertex = match inspection.application {
        Some(_) => TASK,
        None => VERTEX,
    };
    let stages: &[StageView] = &inspection.stages;
    let measures = STAGE.into_iter().chain([&book::MEMORY_PEAK]);
    let titles: Vec<String> = measures.map(|m| say(m.title(vertex))).collect();
    let mut columns = columns(word("阶段", "stage"));
    columns.extend(titles.iter().map(|title| (title.as_str(), Align::Right)));
    columns.push(("", Align::Left));
    let mut table = Table::new(&columns);
    for stage in stages {
        let spilled = stage.numbers.get(&book::SPILLS).is_some_and(|n| n > 0.0);
        let marks = [
            (stage.on_critical_path, word("关键路径", "critical path")),
            (spilled, word("落盘", "spills")),
        ];
        let marks: Vec<&str> = marks
            .iter()
            .filter(|(yes, _)| *yes)
            .map(|(_, mark)| *mark)
            .collect();
        let mut row = vec![stage.name.clone()];
        row.extend(cells(&STAGE, |measure| stage.numbers.get(measure)));
        row.extend([memory(stage), marks.join(", ")]);
        table.foreign_row(row);
    }
    table
}

fn executions(app: &ApplicationView) -> Table {
    let mut table = Table::new(&columns(word(
        ">执行|>开始于|>用时|阶段|说明",
        ">execution|>after|>took|stages|description",
    )));
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
    let mut table = Table::new(&columns(word(
        "Executor|主机|>核|>加入于|>移除于|>任务|>忙碌|原因",
        "executor|host|>cores|>added after|>removed after|>tasks|>busy|reason",
    )));
    for e in &app.executors {
        table.row(vec![
            e.id.clone(),
            e.host.clone(),
            count(e.cores.map(f64::from)),
            time(e.added_seconds.map(|s| s * 1e3)),
            time(e.removed_seconds.map(|s| s * 1e3)),
            count(Some(e.tasks as f64)),
            time(Some(e.busy_seconds * 1e3)),
            shorten(e.reason.as_deref().unwrap_or_default(), 2 * CELL),
        ]);
    }
    table
}

fn settings(app: &ApplicationView) -> Table {
    let mut table = Table::new(&columns(word("设置|值", "setting|value")));
    for (name, value) in &app.configuration {
        table.row(vec![name.clone(), shorten(value, 2 * CELL)]);
    }
    table
}

fn memory(stage: &StageView) -> String {
    let of = |measure| stage.numbers.get(measure);
    match (of(&book::MEMORY_PEAK), of(&book::MEMORY_LIMIT)) {
        (Some(peak), Some(limit)) => {
            let (peak, limit) = (size(Some(peak)), size(Some(limit)));
            say!("{peak}（上限 {limit}）", "{peak} of {limit}")
        }
        (peak, _) => size(peak),
    }
}

fn operators(operators: &[OperatorView]) -> Table {
    let numbers = [
        &book::OPERATOR_ROWS,
        &book::OPERATOR_SPREAD,
        &book::ESTIMATED_ROWS,
        &book::OWN_TIME,
    ];
    let mut columns = columns(word("算子|种类|键|行", "operator|kind|keys|lines"));
    columns.extend(heads(&numbers));
    let mut table = Table::new(&columns);
    for operator in operators {
        let lines = operator.script_lines.map_or_else(unknown, range);
        let mut row = vec![
            operator.id.clone(),
            snake(&format!("{:?}", operator.kind)),
            shorten(&operator.keys.join(", "), CELL),
            lines,
        ];
        row.extend(cells(&numbers, |measure| operator.numbers.get(measure)));
        table.foreign_row(row);
    }
    table
}

fn edges(inspection: &Inspection) -> Table {
    let numbers = [
        &book::PARTITIONS,
        &book::ROWS_CROSSING,
        &book::BYTES_CROSSING,
    ];
    let mut columns = columns(word("从|到|交换|键", "from|to|exchange|keys"));
    columns.extend(heads(&numbers));
    columns.push((word("列", "columns"), Align::Right));
    let mut table = Table::new(&columns);
    for edge in &inspection.edges {
        let mut row = vec![
            edge.from.clone(),
            edge.to.clone(),
            snake(&format!("{:?}", edge.exchange)),
            shorten(&edge.keys.join(", "), CELL),
        ];
        row.extend(cells(&numbers, |measure| edge.numbers.get(measure)));
        row.push(edge.columns.len().to_string());
        table.foreign_row(row);
    }
    table
}

fn tables(inspection: &Inspection) -> Table {
    let numbers = [&book::STORED_ROWS, &book::STORED_BYTES, &book::STORED_FILES];
    let mut columns = columns(word("输入", "input"));
    columns.extend(heads(&numbers));
    columns.push((word("布局", "layout"), Align::Left));
    columns.push((word("分区", "parts"), Align::Right));
    let mut table = Table::new(&columns);
    for input in &inspection.tables {
        let mut row = vec![input.name.clone()];
        row.extend(cells(&numbers, |measure| input.numbers.get(measure)));
        row.push(input.layout.clone().unwrap_or_else(unknown));
        row.push(count(input.partitions.map(|n| n as f64)));
        table.foreign_row(row);
    }
    table
}

/// `12–18`, or `12`.
fn range([first, last]: [u32; 2]) -> String {
    match first == last {
        true => first.to_string(),
        false => format!("{first}–{last}"),
    }
}

fn script(inspection: &Inspection) -> Table {
    let mut table = Table::new(&columns(word(
        "行|语句|定义|执行于",
        "lines|statement|binds|runs in",
    )));
    for statement in &inspection.script {
        table.foreign_row(vec![
            range(statement.lines),
            statement.kind.clone(),
            statement.target.clone().unwrap_or_default(),
            statement.stages.join(", "),
        ]);
    }
    table
}

fn files(inspection: &Inspection, catalogue: &Catalogue) -> Table {
    let mut table = Table::new(&columns(word("文件|内容|>大小|", "file|holds|>size|")));
    for file in &inspection.files {
        let read = if file.read {
            ""
        } else {
            word("未读取", "not read")
        };
        table.foreign_row(vec![
            file.name.clone(),
            catalogue
                .entry(file.kind)
                .map_or_else(unknown, |entry| say(&entry.title)),
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
            Severity::Error => word("错误", "error"),
            Severity::Warning => word("警告", "warning"),
        };
        let place: Vec<&str> = [d.file.as_deref(), d.locator.as_deref()]
            .into_iter()
            .flatten()
            .collect();
        let colon = word("：", ": ");
        let parts = [severity.to_owned(), place.join(" "), say(&d.message)];
        let parts = parts.into_iter().filter(|part| !part.is_empty());
        let text = parts.collect::<Vec<_>>().join(colon);
        lines(&visible_line(&text), INDENT);
        if let Some(hint) = &d.hint {
            lines(
                &format!("{}{colon}{}", word("办法", "hint"), say(hint)),
                &INDENT.repeat(2),
            );
        }
    }
    out
}

fn say(value: impl Localize) -> String {
    value.localize(interface())
}

fn word(zh: &'static str, en: &'static str) -> &'static str {
    interface().select(zh, en)
}

fn unknown() -> String {
    "–".to_owned()
}

fn count(value: Option<f64>) -> String {
    value.map_or_else(unknown, |v| report::format::figure(v.round()))
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
