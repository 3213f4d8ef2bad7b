//! `scopeagent eval`: how well the index answers judged queries.

use std::fs;
use std::path::Path;

use indexer::eval::{self, Estimate, EvalError, Judged, Options, Report};

use crate::args::Eval;
use crate::config::Config;
use crate::exit::Exit;
use crate::render::table::{Table, columns};
use crate::session;
use crate::terminal::Terminal;
use server::{Documents, Error, ErrorKind, Explain, Knowledge, Result, error};

pub(crate) fn run(args: &Eval, config: &Config, terminal: &Terminal) -> Result<Exit> {
    let options = Options {
        k: usize::from(args.k),
        recall_at: usize::from(args.recall_at),
        split: args.split.clone(),
    };
    let knowledge = session::knowledge(config)?;
    let runtime = session::runtime()?;
    let index = session::open(config, terminal, &runtime)?.index()?;
    let judged = judgements(args, &knowledge)?;
    let report = eval::evaluate(&index, &judged, &options).map_err(error)?;
    finish(&report, args, terminal)
}

fn judgements(args: &Eval, knowledge: &Knowledge) -> Result<Vec<Judged>> {
    let path = match (&args.judgements, &knowledge.documents) {
        (Some(path), _) => path.clone(),
        (None, Documents::Folder(folder)) => folder.join("judgements"),
        (None, Documents::Builtin) => {
            return Err(error!(
                Input: "没有可用于评测的评判数据", "there are no judgements to evaluate with";
                "用 --knowledge 给出知识库目录，或用 --judgements 给出文件", "give a knowledge folder with --knowledge, or a file with --judgements"
            ));
        }
    };
    eval::read_judgements(&path).map_err(error)
}

fn finish(report: &Report, args: &Eval, terminal: &Terminal) -> Result<Exit> {
    super::show(terminal, args.format, report, || text(report))?;
    for warning in &report.warnings {
        terminal.remark(warning);
    }
    let Some(path) = &args.baseline else {
        return Ok(Exit::Success);
    };
    let gate = eval::gate(report, &baseline(path)?);
    for (branch, d) in &gate.differences {
        terminal.remark(&format!(
            "{branch}: {:+.4} from the baseline (95 % {:+.4} … {:+.4})",
            d.mean, d.ci95[0], d.ci95[1]
        ));
    }
    Ok(Exit::found(args.gate && !gate.passed))
}

fn baseline(path: &Path) -> Result<Report> {
    let shown = path.display().to_string();
    let hint = report::say!(
        "`{shown}` 须是 `eval --format json` 输出的文件",
        "`{shown}` must be a file that `eval --format json` printed"
    );
    let text = fs::read_to_string(path).explain(ErrorKind::Input, &hint)?;
    serde_json::from_str(&text).explain(ErrorKind::Input, &hint)
}

fn text(report: &Report) -> String {
    let metrics = report.branches.values().next().map(|s| s.metrics.keys());
    let languages = report.languages.iter();
    let languages = languages.map(|(l, r)| (l.as_str(), &r.branches));
    let parts = std::iter::once(("all", &report.branches)).chain(languages);
    let mut table = Table::new(&columns("queries|branch|metrics|nDCG 95 %"));
    for (part, branches) in parts {
        for (branch, scores) in branches {
            let metrics = metrics.clone().into_iter().flatten();
            let shown = metrics.filter_map(|m| Some(format!("{m} {:.3}", scores.metrics.get(m)?)));
            let [low, high] = scores.ci95;
            table.row(vec![
                part.to_owned(),
                branch.clone(),
                shown.collect::<Vec<_>>().join("  "),
                format!("{low:.3} … {high:.3}"),
            ]);
        }
    }
    format!(
        "{} queries, {} documents, {} chunks, embedder {}\n{}{}",
        report.queries,
        report.documents,
        report.chunks,
        report.embedder,
        table.render(""),
        sets(report)
    )
}

/// Quality for a reader: documents folded by subject, and refusals.
fn sets(report: &Report) -> String {
    let columns = columns("set|part|queries|nDCG|success@1|success@3|refused|passage@1|passage@3");
    let mut table = Table::new(&columns);
    let shown = |e: &Estimate| format!("{:.3} ({:.3} … {:.3})", e.mean, e.ci95[0], e.ci95[1]);
    for (name, set) in &report.sets {
        for (part, s) in &set.answerable {
            let estimates = [&s.ndcg, &s.success_at_1, &s.success_at_3, &s.refused].map(shown);
            let passages = s
                .passages
                .iter()
                .flat_map(|p| [&p.success_at_1, &p.success_at_3]);
            let row = [name.clone(), part.clone(), s.queries.to_string()];
            let mut row: Vec<String> = row.into_iter().chain(estimates).collect();
            row.extend(passages.map(shown));
            row.resize(columns.len(), String::new());
            table.row(row);
        }
        for (part, refused) in &set.unanswerable {
            let mut row = vec![String::new(); columns.len()];
            row[0] = name.clone();
            row[1] = format!("{part}, unanswerable");
            row[6] = shown(refused);
            table.row(row);
        }
    }
    match report.sets.is_empty() {
        true => String::new(),
        false => format!("\nBy subject, 95 % intervals:\n{}", table.render("")),
    }
}

fn error(error: EvalError) -> Error {
    Error::from_source(ErrorKind::Input, &error)
}
