//! Makes the prompt of a task and keeps it within its budget of tokens.
//!
//! Stages and inputs get a share of it first; what is too much then is cut in a stated order: files, the script away from the findings,
//! experience, memory, causes ruled out, stages, code, evidence. Findings are never cut, and nothing is cut in silence:
//! the prompt and the report say what was left out.

use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use super::rows;
pub(super) use super::tokens::tokens;
use crate::facts::{Facts, StepInput};
use crate::found::Found;
use crate::outline::StageRow;
use crate::prompts::PromptError;
use crate::reasoner::Task;
use crate::step::StepId;
use crate::wording::{cites, shorten};
use job::model::CodeExcerpt;
use llm::ToolRound;
use llm::{Level, Profile};
use report::format::cut;

/// Script lines kept on either side of a finding when the script is cut.
const LINES_AROUND: usize = 12;

/// Bytes of a passage when experience is cut: its first paragraph or two.
const PASSAGE_BYTES: usize = 800;

/// Lines of an earlier conclusion when memory is cut.
const MEMORY_LINES: usize = 2;

/// Stages or files listed when the tables are cut.
const ROWS: usize = 20;

/// Tokens kept for an answer where the profile names none; conclusions take up to three thousand.
const ANSWER_TOKENS: usize = 4_000;

/// Share of the context that a prompt may fill: the rest covers other vocabularies and the schema.
const PROMPT_SHARE: f64 = 0.85;

/// Tokens that a prompt for a model may have.
pub(super) fn budget(profile: &Profile) -> usize {
    let answer = profile
        .max_output_tokens
        .map_or(ANSWER_TOKENS, |n| n as usize);
    let context = profile.context_tokens();
    let room = (context as f64 * PROMPT_SHARE) as usize;
    // A model whose answer may fill its whole context still needs half of it for the prompt.
    room.saturating_sub(answer).max(context / 2)
}

/// Causes ruled out that are still named when they are cut.
const CLEARED: usize = 4;

/// A prompt ready to be sent.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Prompt {
    pub system: String,
    pub user: String,
    /// What was left out, in the language of the prompt.
    pub cuts: Vec<String>,
    /// Estimated tokens of both.
    pub tokens: usize,
}

pub(super) struct Form<'a> {
    /// How the answer is made to follow its schema.
    pub(super) level: Level,
    /// That schema; it goes into the text where the server does not take it otherwise.
    pub(super) schema: &'a Value,
    /// Whether tools are offered; they take the place of the schema.
    pub(super) tools: bool,
    /// Whether the results of tools are sent along: the prompt then leaves them out.
    pub(super) conversing: bool,
    /// Whether an answer is only to be corrected: what it was made from is not sent again.
    pub(super) correcting: bool,
}

impl Form<'_> {
    fn schema_in_text(&self, steps: &[StepId]) -> Option<&Value> {
        let in_text = matches!(self.level, Level::JsonObject | Level::Text);
        (in_text && !self.tools && !self.marks(steps)).then_some(self.schema)
    }

    fn marks(&self, steps: &[StepId]) -> bool {
        self.level == Level::Text && !self.tools && steps == [StepId::Completeness]
    }
}

/// Tokens of the exchanges with tools so far.
pub(super) fn rounds(rounds: &[ToolRound]) -> usize {
    let of_round = |round: &ToolRound| {
        let results: usize = round.results.iter().map(|r| tokens(&r.text)).sum();
        results + tokens(&round.message.to_string())
    };
    rounds.iter().map(of_round).sum()
}

/// Makes the prompt of a task; together with what tools gave it stays within `budget` tokens.
pub(super) fn build(
    task: &Task<'_>,
    form: &Form<'_>,
    budget: usize,
) -> Result<Prompt, PromptError> {
    let language = task.input.facts.language;
    let system = task
        .prompts
        .render(language, "system", system(task, form))?;
    let mut fitting = Fitting::new(task);
    let mut budget = budget;
    if form.conversing {
        fitting.input.reading.excerpts.clear();
        budget = budget.saturating_sub(rounds(task.rounds));
    }
    fitting.fit_rows(budget);
    let mut order = ORDER.into_iter();
    loop {
        let user = fitting.render(task, form)?;
        let total = tokens(&system) + tokens(&user);
        let next = order.next().filter(|_| total > budget);
        let Some((cut, zh, en)) = next else {
            return Ok(Prompt {
                system,
                user,
                cuts: fitting.cuts,
                tokens: total,
            });
        };
        if fitting.shorten(cut) {
            fitting.cuts.push(language.select(zh, en).to_owned());
        }
    }
}

/// What the system text depends on.
#[derive(Serialize)]
struct System<'a> {
    #[serde(flatten)]
    facts: &'a Facts,
    tools: bool,
    marks: bool,
}

fn system<'a>(task: &Task<'a>, form: &Form<'_>) -> System<'a> {
    System {
        facts: &task.input.facts,
        tools: form.tools,
        marks: form.marks(task.steps),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cut {
    LongFiles,
    Files,
    FarScript,
    LongExperience,
    FurtherExperience,
    LongMemory,
    Columns,
    FurtherCleared,
    LongStages,
    LongCode,
    OtherStages,
    FurtherEvidence,
    FurtherTables,
    FurtherFiles,
    Code,
    Script,
}

/// What is cut in which order, and how the prompt and the report name it.
const ORDER: [(Cut, &str, &str); 16] = [
    (Cut::LongFiles, "文件的后半部分", "the later part of files"),
    (Cut::Files, "文件内容", "the content of files"),
    (
        Cut::FarScript,
        "与发现无关的脚本行",
        "script lines away from the findings",
    ),
    (
        Cut::LongExperience,
        "经验的后半部分",
        "the later part of experience",
    ),
    (
        Cut::FurtherExperience,
        "排名靠后的经验",
        "experience of lower rank",
    ),
    (
        Cut::LongMemory,
        "前面结论的细节",
        "details of earlier conclusions",
    ),
    (
        Cut::Columns,
        "输入列的统计信息",
        "statistics of columns of the inputs",
    ),
    (
        Cut::FurtherCleared,
        "部分已排除的原因",
        "some of the causes that are ruled out",
    ),
    (
        Cut::LongStages,
        "与发现无关的阶段的细节",
        "details of stages without a finding",
    ),
    (
        Cut::LongCode,
        "用户代码中较远的行",
        "code away from the lines that matter",
    ),
    (
        Cut::OtherStages,
        "与发现无关的阶段",
        "stages without a finding",
    ),
    (Cut::FurtherEvidence, "次要证据", "minor evidence"),
    (Cut::FurtherTables, "部分输入", "some of the inputs"),
    (
        Cut::FurtherFiles,
        "部分未读文件的名字",
        "names of some unread files",
    ),
    (Cut::Code, "用户代码", "the code"),
    (Cut::Script, "脚本", "the script"),
];

#[derive(Serialize)]
struct Context<'a> {
    #[serde(flatten)]
    input: &'a StepInput,
    parts: &'a [&'static str],
    cuts: &'a [String],
    script_lines: String,
    /// Stages and inputs that are left out.
    stages_left: usize,
    tables_left: usize,
    /// Whether tools are offered.
    tools: bool,
    /// Whether the marks of the specification are asked for.
    marks: bool,
}

/// An input on its way to fit.
struct Fitting {
    input: StepInput,
    parts: Vec<&'static str>,
    cuts: Vec<String>,
    windowed: bool,
    stages_left: usize,
    tables_left: usize,
}

impl Fitting {
    fn new(task: &Task<'_>) -> Fitting {
        let mut parts: Vec<&'static str> = Vec::new();
        for part in task.steps.iter().flat_map(|step| parts_of(*step)) {
            if !parts.contains(&part) {
                parts.push(part);
            }
        }
        let mut input = task.input.clone();
        // A step that is drawn again shall not copy what it said before.
        input
            .memory
            .retain(|m| task.steps.iter().all(|s| s.id() != m.step));
        Fitting {
            input,
            parts,
            cuts: Vec::new(),
            windowed: false,
            stages_left: 0,
            tables_left: 0,
        }
    }

    fn render(&self, task: &Task<'_>, form: &Form<'_>) -> Result<String, PromptError> {
        let language = self.input.facts.language;
        let script = self.input.facts.outline.script.as_ref();
        let script_lines = script.map(|s| self.script_lines(&s.text));
        let context = Context {
            input: &self.input,
            parts: &self.parts,
            cuts: &self.cuts,
            script_lines: script_lines.unwrap_or_default(),
            stages_left: self.stages_left,
            tables_left: self.tables_left,
            tools: form.tools,
            marks: form.marks(task.steps),
        };
        let mut pieces = Vec::new();
        if !form.correcting {
            pieces.push(task.prompts.render(language, "data", &context)?);
        }
        for step in task.steps {
            pieces.push(task.prompts.render(language, step.id(), &context)?);
        }
        if let Some(schema) = form.schema_in_text(task.steps) {
            let context = serde_json::json!({ "schema": schema.to_string() });
            pieces.push(task.prompts.render(language, "schema", context)?);
        }
        Ok(pieces.join("\n\n"))
    }

    /// The script with line numbers; windowed, only what surrounds the findings.
    fn script_lines(&self, text: &str) -> String {
        let lines: Vec<(usize, &str)> = (1..).zip(text.lines()).collect();
        let is_shown = |number: usize| !self.windowed || self.is_near(number);
        let mut out = String::new();
        for run in lines.chunk_by(|(a, _), (b, _)| is_shown(*a) == is_shown(*b)) {
            if is_shown(run[0].0) {
                for (number, line) in run {
                    out.push_str(&format!("{number:>4}  {line}\n"));
                }
            } else {
                out.push_str(&format!("      … {}\n", run.len()));
            }
        }
        out.truncate(out.trim_end().len());
        out
    }

    /// Whether a line is close to one that a finding or THINK 2 names.
    fn is_near(&self, number: usize) -> bool {
        let findings = self.input.facts.found.findings.iter();
        let places = findings.filter_map(|f| f.script_lines);
        let modules = self.input.conclusion(StepId::KeyCode);
        let modules = modules.and_then(|c| c["modules"].as_array());
        let line = |value: &Value| value.as_u64().and_then(|n| u32::try_from(n).ok());
        let named = modules.into_iter().flatten();
        let named = named.filter_map(|m| Some([line(&m["first_line"])?, line(&m["last_line"])?]));
        let mut places = places.chain(named);
        places.any(|[first, last]| {
            let first = (first as usize).saturating_sub(LINES_AROUND);
            (first..=last as usize + LINES_AROUND).contains(&number)
        })
    }

    /// Cuts one part; whether there was anything to cut.
    fn shorten(&mut self, which: Cut) -> bool {
        let uses = |part: &str| self.parts.contains(&part);
        match which {
            Cut::LongFiles if uses("excerpts") => {
                let excerpts = self.input.reading.excerpts.iter_mut();
                shorten_each(excerpts, |e| {
                    let most = e.text.len() / 4;
                    e.cut_bytes += (e.text.len() - cut(&e.text, most).len()) as u64;
                    shorten(&mut e.text, most)
                })
            }
            Cut::Files if uses("excerpts") => keep(&mut self.input.reading.excerpts, 0),
            Cut::FarScript if uses("script") && self.input.facts.outline.script.is_some() => {
                !std::mem::replace(&mut self.windowed, true)
            }
            Cut::LongExperience if uses("experience") => {
                let passages = self.input.experiences.iter_mut();
                shorten_each(passages, |p| shorten(&mut p.text, PASSAGE_BYTES))
            }
            Cut::FurtherExperience if uses("experience") => keep(&mut self.input.experiences, 1),
            Cut::LongMemory if uses("memory") => {
                let memory = self.input.memory.iter_mut();
                shorten_each(memory, |m| keep(&mut m.lines, MEMORY_LINES))
            }
            Cut::Columns if uses("tables") => {
                let tables = self.facts_mut().outline.tables.iter_mut();
                shorten_each(tables, rows::shorten)
            }
            Cut::FurtherCleared if uses("cleared") => {
                keep(&mut self.facts_mut().found.cleared, CLEARED)
            }
            Cut::LongStages if uses("stages") => self.shorten_stages(),
            Cut::LongCode if uses("code") => {
                let code = self.facts_mut().outline.code.iter_mut();
                shorten_each(code, CodeExcerpt::shorten)
            }
            Cut::OtherStages if uses("stages") => self.keep_stages(),
            Cut::FurtherEvidence => self.keep_evidence(),
            Cut::FurtherTables if uses("tables") => {
                let dropped = rows::keep_best(&mut self.facts_mut().outline.tables, ROWS);
                self.tables_left += dropped;
                dropped > 0
            }
            Cut::FurtherFiles if uses("files") => keep(&mut self.facts_mut().outline.unread, ROWS),
            Cut::Code if uses("code") => keep(&mut self.facts_mut().outline.code, 0),
            Cut::Script if uses("script") => self.facts_mut().outline.script.take().is_some(),
            _ => false,
        }
    }

    /// The facts, copied before the first cut.
    fn facts_mut(&mut self) -> &mut Facts {
        Arc::make_mut(&mut self.input.facts)
    }

    /// Fits stages and inputs into their shares of the budget.
    fn fit_rows(&mut self, budget: usize) {
        let language = self.input.facts.language;
        let outline = &mut self.facts_mut().outline;
        let stages = rows::fit(&mut outline.stages, budget);
        let tables = rows::fit(&mut outline.tables, budget);
        (self.stages_left, self.tables_left) = (stages.dropped, tables.dropped);
        for (part, left, zh, en) in [
            (
                "stages",
                stages,
                "次要阶段的细节",
                "details of stages that matter less",
            ),
            (
                "tables",
                tables,
                "次要输入的细节",
                "details of inputs that matter less",
            ),
        ] {
            if left != rows::Left::default() && self.parts.contains(&part) {
                self.cuts.push(language.select(zh, en).to_owned());
            }
        }
    }

    fn shorten_stages(&mut self) -> bool {
        let Facts { outline, found, .. } = self.facts_mut();
        let others = outline.stages.iter_mut().filter(|s| !is_found(found, s));
        shorten_each(others, rows::shorten)
    }

    fn keep_stages(&mut self) -> bool {
        let Facts { outline, found, .. } = self.facts_mut();
        let before = outline.stages.len();
        if found.findings.iter().any(|f| f.stage.is_some()) {
            outline.stages.retain(|s| is_found(found, s));
        }
        rows::keep_best(&mut outline.stages, ROWS);
        let dropped = before - outline.stages.len();
        self.stages_left += dropped;
        dropped > 0
    }

    /// Keeps three facts per finding: what it is, where, and compared with what. Those that earlier conclusions cite remain too.
    fn keep_evidence(&mut self) -> bool {
        let StepInput { facts, memory, .. } = &mut self.input;
        let lines = memory.iter().flat_map(|m| &m.lines);
        let Found {
            findings, evidence, ..
        } = &mut Arc::make_mut(facts).found;
        let before = evidence.len();
        let first = |id: &String| {
            let mut kept = findings.iter().flat_map(|f| f.evidence.iter().take(3));
            kept.any(|e| e == id)
        };
        evidence.retain(|e| first(&e.id) || lines.clone().any(|line| cites(line, &e.id)));
        evidence.len() < before
    }
}

/// Whether a finding is about a stage.
fn is_found(found: &Found, stage: &StageRow) -> bool {
    let mut findings = found.findings.iter();
    findings.any(|f| f.stage.as_ref() == Some(&stage.name))
}

fn keep<T>(items: &mut Vec<T>, most: usize) -> bool {
    let any = items.len() > most;
    items.truncate(most);
    any
}

/// Shortens every item; returns whether any of them got shorter.
fn shorten_each<T>(items: impl Iterator<Item = T>, shorten: impl Fn(T) -> bool) -> bool {
    items.fold(false, |any, item| shorten(item) | any)
}

/// Data that a step looks at.
fn parts_of(step: StepId) -> impl Iterator<Item = &'static str> {
    let parts = match step {
        StepId::Classify => "job findings time stages cleared experience",
        StepId::KeyCode => "job findings stages tables script code experience memory",
        StepId::Experience => {
            "job findings time stages tables script code cleared experience memory"
        }
        StepId::Completeness => {
            "job findings time stages tables missing files suggestions excerpts experience memory"
        }
        StepId::Advice => {
            "job findings time cleared stages tables script code suggestions missing excerpts experience memory answer"
        }
        StepId::Answer => {
            "job findings time stages tables script code suggestions cleared missing answer turns"
        }
        StepId::Hypotheses => {
            "job findings time stages tables script code cleared missing files excerpts experience memory"
        }
    };
    parts.split(' ')
}
