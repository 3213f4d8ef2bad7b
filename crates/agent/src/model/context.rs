//! Makes the prompt of a task and keeps it within its budget of tokens.
//!
//! The facts come first and are the same in every step, so that a provider's prefix cache works; the step's own data, the
//! question and the instruction follow. Both are cut in a stated order. Findings are never cut, and the prompt and the report name each cut.

use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

pub(super) use super::tokens::tokens;
use super::{rows, shown};
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
use report::Cause;
use report::format::cut;

/// Tokens of a passage: its first paragraphs hold the parts that fit a job. A step may look up the rest of the best passages.
const PASSAGE_TOKENS: usize = 220;

/// Bytes of a passage when experience is cut: its first paragraph.
const PASSAGE_BYTES: usize = 400;

/// Lines of an earlier conclusion when memory is cut.
const MEMORY_LINES: usize = 2;

/// Stages or files listed when the tables are cut.
const ROWS: usize = 20;

/// Share of the context that a prompt may fill: the rest covers other vocabularies and the schema.
const PROMPT_SHARE: f64 = 0.85;

/// Tokens that a prompt for a model may have.
pub(super) fn budget(profile: &Profile) -> usize {
    let context = profile.context_tokens();
    let room = (context as f64 * PROMPT_SHARE) as usize;
    // Even if the answer may fill the whole context, the prompt gets at least half of it.
    room.saturating_sub(profile.answer_tokens())
        .max(context / 2)
}

/// Share of the budget that the part common to all steps may take. It is cut the same way in every step, so that a provider finds
/// the prefix of the step before in its cache.
const COMMON_SHARE: f64 = 0.7;

/// Ruled-out causes that are named with their reason; the main finding's class comes first.
const CLEARED: usize = 4;

/// A prompt ready to be sent.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Prompt {
    pub system: String,
    pub user: String,
    /// The cut parts, in the language of the prompt.
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

/// Makes the prompt of a task; together with the results of tools it stays within `budget` tokens.
pub(super) fn build(
    task: &Task<'_>,
    form: &Form<'_>,
    budget: usize,
) -> Result<Prompt, PromptError> {
    let facts = &task.input.facts;
    let system = task.prompts.render(facts.language, "system", facts)?;
    let mut fitting = Fitting::new(task);
    let mut left = budget.saturating_sub(tokens(&system));
    let share = (left as f64 * COMMON_SHARE) as usize;
    if form.conversing {
        fitting.input.reading.excerpts.clear();
        left = left.saturating_sub(rounds(task.rounds));
    }
    let user = if form.correcting {
        fitting.step(task, form)?
    } else {
        fitting.fit_rows(budget);
        let (kept, last) = COMMON.split_at(COMMON.len() - LAST_CUTS);
        let mut common = fitting.cut(kept, share, |f| f.common(task))?;
        let room = left.saturating_sub(tokens(&common));
        let mut own = fitting.cut(OF_STEP, room, |f| f.step(task, form))?;
        if tokens(&own) > room {
            let room = left.saturating_sub(tokens(&own));
            common = fitting.cut(kept, room, |f| f.common(task))?;
            common = match tokens(&common) > room {
                true => fitting.cut(last, room, |f| f.common(task))?,
                false => common,
            };
            own = fitting.step(task, form)?;
        }
        format!("{common}\n\n{own}")
    };
    Ok(Prompt {
        tokens: tokens(&system) + tokens(&user),
        system,
        user,
        cuts: [fitting.cuts, fitting.own_cuts].concat(),
    })
}

/// A cut, and its name in the prompt and the report.
type Named = (Cut, &'static str, &'static str);

/// The parts that can be cut, in the order of the cuts.
macro_rules! cuts {
    ($($(#[$doc:meta])* $list:ident { $($cut:ident $zh:literal, $en:literal;)* })*) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        enum Cut {
            $($($cut,)*)*
        }
        $($(#[$doc])* const $list: &[Named] = &[$((Cut::$cut, $zh, $en)),*];)*
    };
}

cuts! {
    /// The cuts of the part that is common to all steps.
    COMMON {
        Columns "输入列的统计信息", "statistics of columns of the inputs";
        LongStages "与发现无关的阶段的细节", "details of stages without a finding";
        LongCode "用户代码中较远的行", "code away from the lines that matter";
        OtherStages "与发现无关的阶段", "stages without a finding";
        FurtherTables "部分输入", "some of the inputs";
        FarScript "与发现无关的脚本行", "script lines away from the findings";
        FurtherEvidence "次要证据", "minor evidence";
        Code "用户代码", "the code";
        Script "脚本", "the script";
    }
    /// The cuts of the part that only the step sees.
    OF_STEP {
        LongFiles "文件的后半部分", "the later part of files";
        Files "文件内容", "the content of files";
        LongExperience "经验的后半部分", "the later part of experience";
        FurtherExperience "排名靠后的经验", "experience of lower rank";
        Diffs "建议的 diff", "diffs of suggestions";
        LongMemory "前面结论的细节", "details of earlier conclusions";
        FurtherFiles "部分未读文件的名字", "names of some unread files";
    }
}

/// The last cuts of [`COMMON`], made only after everything else that belongs to the step has been cut.
const LAST_CUTS: usize = 3;

#[derive(Serialize)]
struct Context<'a> {
    #[serde(flatten)]
    input: &'a StepInput,
    parts: &'a [&'static str],
    cuts: &'a [String],
    script_lines: String,
    /// Stages and inputs that are left out, and causes that are ruled out without a word.
    stages_left: usize,
    tables_left: usize,
    cleared_left: &'a [String],
    /// Whether tools are offered.
    tools: bool,
    /// Whether the marks of the specification are asked for.
    marks: bool,
}

/// An input on its way to fit.
struct Fitting {
    input: StepInput,
    parts: Vec<&'static str>,
    /// The cuts of the common part; `own_cuts` has those in the step's own part.
    cuts: Vec<String>,
    own_cuts: Vec<String>,
    windowed: bool,
    stages_left: usize,
    tables_left: usize,
    /// Codes of further causes that are ruled out.
    cleared_left: Vec<String>,
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
        // A repeated step must not copy its earlier conclusion.
        input
            .memory
            .retain(|m| task.steps.iter().all(|s| s.id() != m.step));
        let found = &mut Arc::make_mut(&mut input.facts).found;
        let answers = input.answer.iter_mut().map(|a| &mut a.text);
        let lines = input.memory.iter_mut().flat_map(|m| &mut m.lines);
        for line in lines.chain(answers) {
            *line = shown::without_summaries(line, found);
        }
        // A case ends with its resolution; a section of a playbook begins with its main point.
        for passage in input.experiences.iter_mut().filter(|p| p.section.is_some()) {
            let bytes = passage.text.len() * PASSAGE_TOKENS / tokens(&passage.text).max(1);
            shorten(&mut passage.text, bytes);
        }
        let main = found.problem_type.code();
        found.cleared.sort_by_key(|c| {
            let cause = Cause::from_code(&c.cause);
            cause.is_none_or(|cause| cause.problem_type().code() != main)
        });
        let cleared_left = found.cleared.split_off(CLEARED.min(found.cleared.len()));
        let cleared_left = cleared_left.into_iter().map(|c| c.cause).collect();
        for diff in input.suggestions.iter_mut().filter_map(|s| s.diff.as_mut()) {
            *diff = shown::changed_lines(diff);
        }
        Fitting {
            input,
            parts,
            cuts: Vec::new(),
            own_cuts: Vec::new(),
            windowed: false,
            stages_left: 0,
            tables_left: 0,
            cleared_left,
        }
    }

    /// Cuts until a text has at most `most` tokens or there is no further cut.
    fn cut(
        &mut self,
        order: &[Named],
        most: usize,
        render: impl Fn(&Fitting) -> Result<String, PromptError>,
    ) -> Result<String, PromptError> {
        let is_of_step = order.first().is_some_and(|first| OF_STEP.contains(first));
        let mut text = render(self)?;
        let mut size = tokens(&text);
        for (cut, zh, en) in order {
            if size <= most {
                break;
            }
            if self.shorten(*cut) {
                let name = self.input.facts.language.select(zh, en);
                let cuts = match is_of_step {
                    true => &mut self.own_cuts,
                    false => &mut self.cuts,
                };
                cuts.push((*name).to_owned());
                text = render(self)?;
                size = tokens(&text);
            }
        }
        Ok(text)
    }

    fn context<'a>(&'a self, cuts: &'a [String]) -> Context<'a> {
        let script = self.input.facts.outline.script.as_ref();
        let script_lines = script.map(|s| shown::script(&s.text, &self.input.facts, self.windowed));
        Context {
            input: &self.input,
            parts: &self.parts,
            cuts,
            script_lines: script_lines.unwrap_or_default(),
            stages_left: self.stages_left,
            tables_left: self.tables_left,
            cleared_left: &self.cleared_left,
            tools: false,
            marks: false,
        }
    }

    /// The facts, the same for all steps.
    fn common(&self, task: &Task<'_>) -> Result<String, PromptError> {
        let language = self.input.facts.language;
        let context = self.context(&self.cuts);
        task.prompts.render(language, "data", &context)
    }

    /// The part of the step: its own data, the question, the required conclusion and its form.
    fn step(&self, task: &Task<'_>, form: &Form<'_>) -> Result<String, PromptError> {
        let language = self.input.facts.language;
        let context = Context {
            tools: form.tools,
            marks: form.marks(task.steps),
            ..self.context(&self.own_cuts)
        };
        let mut pieces = Vec::new();
        if !form.correcting {
            pieces.push(task.prompts.render(language, "step", &context)?);
        }
        for step in task.steps {
            pieces.push(task.prompts.render(language, step.id(), &context)?);
        }
        let schema = form.schema_in_text(task.steps).map(Value::to_string);
        let answer = serde_json::json!({
            "schema": schema, "tools": context.tools, "marks": context.marks,
        });
        pieces.push(task.prompts.render(language, "schema", answer)?);
        pieces.retain(|piece| !piece.is_empty());
        Ok(pieces.join("\n\n"))
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
            Cut::FarScript if self.input.facts.outline.script.is_some() => {
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
            Cut::Diffs if uses("suggestions") => {
                let diffs = self.input.suggestions.iter_mut();
                shorten_each(diffs, |s| s.diff.take().is_some())
            }
            Cut::Columns => {
                let tables = self.facts_mut().outline.tables.iter_mut();
                shorten_each(tables, rows::shorten)
            }
            Cut::LongStages => self.shorten_stages(),
            Cut::LongCode => {
                let code = self.facts_mut().outline.code.iter_mut();
                shorten_each(code, CodeExcerpt::shorten)
            }
            Cut::OtherStages => self.keep_stages(),
            Cut::FurtherEvidence => self.keep_evidence(),
            Cut::FurtherTables => {
                let dropped = rows::keep_best(&mut self.facts_mut().outline.tables, ROWS);
                self.tables_left += dropped;
                dropped > 0
            }
            Cut::FurtherFiles if uses("files") => keep(&mut self.facts_mut().outline.unread, ROWS),
            Cut::Code => keep(&mut self.facts_mut().outline.code, 0),
            Cut::Script => self.facts_mut().outline.script.take().is_some(),
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
        let names = [
            ("次要阶段的细节", "details of stages that matter less"),
            ("次要输入的细节", "details of inputs that matter less"),
        ];
        for (left, (zh, en)) in [stages, tables].into_iter().zip(names) {
            if left != rows::Left::default() {
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

/// Data that only some steps look at, besides the facts that all see.
fn parts_of(step: StepId) -> impl Iterator<Item = &'static str> {
    let parts = match step {
        StepId::Classify => "experience",
        StepId::KeyCode | StepId::Experience => "memory experience",
        StepId::Completeness => "memory suggestions missing files excerpts experience",
        StepId::Advice => "memory suggestions missing excerpts answer experience",
        StepId::Hypotheses => "memory missing files excerpts experience",
        StepId::Answer => "suggestions missing answer turns",
    };
    parts.split(' ')
}
