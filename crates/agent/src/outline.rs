//! A job in the tables that the steps look at: stages, statements, script, names, unread files.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use diagnosis::Diagnosis;
use job::Job;
use job::catalogue::{Catalogue, Entry};
use job::model as files;
use serde::Serialize;

use crate::code;
use crate::flow;
use crate::measures::{self, Measures, TableRow};
use crate::relevance::{self, About, Relevance};
use crate::script;
use crate::wording;
use job::model::CodeExcerpt;
use job::script::Statement;
use report::format::TOKEN;
use report::{Evidence, JobSummary, Language, Localize};

/// The tables and texts of a job that the steps read besides its findings.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Outline {
    /// In the job's order.
    pub stages: Vec<StageRow>,
    pub statements: Vec<StatementRow>,
    /// Inputs of the job, those that the findings name first.
    pub tables: Vec<TableRow>,
    pub script: Option<ScriptText>,
    /// Failed code first, then code named by the findings, then the most expensive.
    pub code: Vec<CodeExcerpt>,
    /// Stages, operators, columns, tables, classes and files, sorted: names that an answer may use.
    #[serde(skip)]
    pub names: Vec<String>,
    /// Error messages of a failed job.
    pub errors: Vec<String>,
    /// Tokens, or settings of an application.
    pub settings: Vec<String>,
    /// How rows get to the stage of a finding, by the finding's id.
    #[serde(skip)]
    pub flow: BTreeMap<String, String>,
    /// Files of the folder that have not been read, most relevant first.
    pub unread: Vec<ListedFile>,
    /// Files that have been read.
    #[serde(skip)]
    pub parsed: Vec<ListedFile>,
}

impl Outline {
    /// The tables of a job, with the stages in the order of relevance; `text` reads a file of the folder.
    pub(crate) fn of(
        job: &Job,
        diagnosis: &Diagnosis,
        catalogue: &Catalogue,
        question: Option<&str>,
        text: &dyn Fn(&str) -> Option<String>,
        language: Language,
    ) -> Outline {
        let about = About::of(job, diagnosis, question);
        let relevance =
            |file: &str, entry: &Entry| relevance::of(file, entry, diagnosis, &about, language);
        let mut unread = listed(job, catalogue, false, &relevance, language);
        unread.sort_by(|a, b| b.relevance.total_cmp(&a.relevance));
        Outline {
            stages: stages(job, diagnosis, language),
            statements: statements(job),
            tables: Vec::new(),
            script: script(job),
            code: code::excerpts(job, diagnosis, text),
            names: names(job),
            errors: errors(job),
            settings: Vec::new(),
            flow: flow::of(job, &diagnosis.findings, language),
            unread,
            parsed: listed(job, catalogue, true, &relevance, language),
        }
    }

    /// Adds the measurements of stages and inputs, in words: only prompts show them.
    pub(crate) fn measure(&mut self, job: &Job, diagnosis: &Diagnosis, language: Language) {
        let sheet = job.sheet();
        let account = diagnosis.time.as_ref();
        for (index, row) in self.stages.iter_mut().enumerate() {
            if row.rank < measures::STAGES {
                let measures = measures::stage(job, &sheet, index, account, false, language);
                row.measures = measures.into();
            }
        }
        self.tables = measures::tables(job, &diagnosis.findings, language);
        self.settings = settings(job, language);
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StageRow {
    pub name: String,
    /// Operators, as `Join_5 (join on UserId)`.
    pub operators: Vec<String>,
    pub vertices: Option<u64>,
    pub lines: Vec<u32>,
    /// Its measurements; empty for the less relevant stages of a large job.
    pub measures: Measures,
    /// Evidence that the lines of `measures` cite.
    #[serde(skip)]
    pub evidence: Vec<Evidence>,
    /// Place in the order of relevance, from 0.
    #[serde(skip)]
    pub rank: usize,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StatementRow {
    pub target: Option<String>,
    pub kind: String,
    /// First and last line.
    pub lines: [u32; 2],
    pub inputs: Vec<String>,
    pub hints: Vec<String>,
}

/// The script with its file name.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScriptText {
    pub file: String,
    /// Text as read, without a byte order mark.
    pub text: String,
}

/// A file of the folder.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ListedFile {
    pub file: String,
    /// What it holds, by the catalogue; empty for unknown files.
    pub description: String,
    pub bytes: u64,
    pub parser: Option<String>,
    /// 0 to 1; 0 for one that has been read.
    pub relevance: f64,
    /// Why it is relevant; empty for an unknown file.
    pub reason: String,
}

/// Name, state and size of a job; a value missing from the files is `None`.
pub(crate) fn summary(job: &Job) -> JobSummary {
    let other = |key: &str| job.info.other.get(key).filter(|v| !v.is_empty()).cloned();
    let vertices: Option<u64> = (0..job.stages.len())
        .filter(|stage| !job.never_ran(*stage))
        .map(|stage| job.vertex_count(stage).map(|count| count.value))
        .sum();
    JobSummary {
        id: job.info.id.clone(),
        name: job.info.name.clone(),
        path: job.path.display().to_string(),
        state: job.info.state,
        elapsed_seconds: job.info.elapsed_seconds.filter(|s| s.is_finite()),
        stages: (!job.stages.is_empty()).then_some(job.stages.len() as u64),
        vertices: vertices.filter(|_| !job.stages.is_empty()),
        engine: job.engine(),
        total_seconds: job.info.total_seconds(),
        owner: other("UserName"),
        queue: other("VirtualCluster"),
        submitted: job.info.submitted_ms.and_then(rfc3339),
        script_hash: script::hash(job),
        script_shape: script::shape(job),
    }
}

fn rfc3339(ms: i64) -> Option<String> {
    let time = jiff::Timestamp::from_millisecond(ms).ok()?;
    Some(time.to_string())
}

fn stages(job: &Job, diagnosis: &Diagnosis, language: Language) -> Vec<StageRow> {
    let order = measures::ranked(job, diagnosis.time.as_ref(), &diagnosis.findings);
    let ranks = ranks(&order);
    let row = |(index, stage): (usize, &files::Stage)| {
        let operators = stage.operators.iter();
        let lines: BTreeSet<u32> = operators.clone().filter_map(|o| o.line).collect();
        StageRow {
            name: stage.name.clone(),
            operators: operators
                .map(|o| wording::operator(&o.id, &o.keys, language))
                .collect(),
            vertices: job
                .vertex_count(index)
                .map(|count| count.value)
                .filter(|_| !job.never_ran(index)),
            lines: lines.into_iter().collect(),
            measures: Measures::default(),
            evidence: Vec::new(),
            rank: ranks[index],
        }
    };
    job.stages.iter().enumerate().map(row).collect()
}

/// The place of each index in an order of all of them.
pub fn ranks(order: &[usize]) -> Vec<usize> {
    let mut ranks = vec![0; order.len()];
    for (rank, index) in order.iter().enumerate() {
        ranks[*index] = rank;
    }
    ranks
}

fn statements(job: &Job) -> Vec<StatementRow> {
    let Some(script) = &job.script else {
        return Vec::new();
    };
    let row = |statement: &Statement| {
        let inputs = statement.query.inputs.iter().map(|i| i.name.clone());
        let hints = statement.hints.iter().map(|hint| script.slice(&hint.span));
        StatementRow {
            target: statement.target.clone(),
            kind: format!("{:?}", statement.kind).to_lowercase(),
            lines: [statement.lines.0, statement.lines.1],
            inputs: inputs.filter(|name| !name.is_empty()).collect(),
            hints: hints.map(str::to_owned).collect(),
        }
    };
    script.statements.iter().map(row).collect()
}

fn script(job: &Job) -> Option<ScriptText> {
    let (file, text) = job.script_text().filter(|(_, text)| !text.is_empty())?;
    Some(ScriptText {
        file: file.to_owned(),
        text: text.trim_start_matches('\u{feff}').to_owned(),
    })
}

/// Every name that an answer may use: stages, operators, columns, tables, rowsets, classes, files.
fn names(job: &Job) -> Vec<String> {
    // in a set, as most columns occur in many channels
    let mut names: HashSet<&String> = job.channel_columns().collect();
    for stage in &job.stages {
        names.insert(&stage.name);
        for operator in &stage.operators {
            names.extend([&operator.id, &operator.class_name]);
            names.extend(operator.keys.iter().chain(&operator.right_keys));
        }
    }
    for table in &job.tables {
        names.insert(&table.name);
        names.extend(table.columns.iter().map(|c| &c.name));
    }
    let classes = job.codegen.iter().flat_map(|c| &c.classes);
    names.extend(classes.map(|class| &class.name));
    names.extend(job.files.iter().map(|file| &file.name));
    let named = names.into_iter().filter(|name| !name.is_empty());
    let mut named: Vec<String> = named.cloned().collect();
    named.sort_unstable();
    named
}

/// Errors of a failed job in a line each.
fn errors(job: &Job) -> Vec<String> {
    let line = |e: &files::JobError| match &e.id {
        Some(id) => format!("{id}: {}", e.message),
        None => e.message.clone(),
    };
    job.errors.iter().map(line).collect()
}

/// Settings of an application that a prompt lists.
const SETTINGS: usize = 30;

/// The resources and settings of the job: tokens of a SCOPE job, settings of a Spark application. Values that could be private,
/// such as paths, are left out.
fn settings(job: &Job, language: Language) -> Vec<String> {
    let tokens = job
        .info
        .tokens
        .filter(|_| job.spark.is_none())
        .map(f64::from);
    let tokens = tokens.map(|n| TOKEN.count(n).localize(language));
    let of_spark = job.spark.iter().flat_map(|spark| spark.plain_settings());
    let of_spark = of_spark
        .map(|(key, value)| format!("{key} = {value}"))
        .take(SETTINGS);
    tokens.into_iter().chain(of_spark).collect()
}

/// Files that have been read or not, with their description in the catalogue.
fn listed(
    job: &Job,
    catalogue: &Catalogue,
    read: bool,
    relevance: &dyn Fn(&str, &Entry) -> Relevance,
    language: Language,
) -> Vec<ListedFile> {
    let useful = |file: &&files::JobFile| {
        file.read == read && !matches!(file.kind, files::FileKind::Ignored)
    };
    let entry = |file: &files::JobFile| {
        let known = catalogue.entry(file.kind);
        let relevant = known
            .filter(|_| !read)
            .map(|entry| relevance(&file.name, entry));
        ListedFile {
            file: file.name.clone(),
            description: known
                .map_or("", |e| e.description.pick(language))
                .to_owned(),
            bytes: file.bytes,
            parser: known.and_then(|e| e.parser.clone()),
            relevance: relevant.as_ref().map_or(0.0, |r| r.value),
            reason: relevant.map_or_else(String::new, |r| r.reason),
        }
    };
    job.files.iter().filter(useful).map(entry).collect()
}
