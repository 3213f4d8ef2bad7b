//! Statements about a run from its files, with the words of questions about them.

use report::measure::{Entity, Measure, book};
use report::{Cause, Finding, JobState, RuleOutcome, RuleResult, SegmentKind, Suggestion, text};

use super::rows::Row;
use super::weigh::Features;
use super::{Query, passed};
use crate::phrases::{Phrases, QUANTITIES, Quantity, SEGMENTS, SETTINGS, TOPICS};
use crate::said::Said;
use crate::subject::Subject;
use crate::term::Term;
use crate::terms;
use crate::wording::Wording;
use crate::words::Word::{Define, Number, Place};
use crate::words::{Scan, Thing};
use crate::{Asked, found, job, mention, rank, record, setting, stage, thing, time};
use runs::{OperatorSummary, StageSummary};

/// One thing that the files say.
#[derive(Clone, Copy)]
pub(super) enum Fact<'a> {
    Value(&'static Measure),
    Finding(&'a Finding),
    Suggestion(&'a Suggestion),
    /// The outcome of a rule that raised no finding.
    Rule(&'a RuleOutcome),
    /// A row of the account of the time.
    Time(SegmentKind),
    Term(&'static Term),
    Setting(&'a str),
    Answer(Quantity),
    /// The stages before and after a stage.
    Flow,
    /// The script lines of a stage.
    Place,
    Keys(Entity),
    /// Layout and columns of an input.
    Input(usize),
    /// Lines of the script with a name of the question.
    Mention(&'a str),
    /// A statement with hints, by its index.
    Hints(usize),
    Failure,
    /// How joins are run.
    Strategy,
    /// Attempts without a result.
    Attempts,
    /// Readers of cached data.
    Cache,
    /// Columns of an input.
    Columns(usize),
    /// Columns of the outputs.
    Written,
    /// Readers of an input.
    Reads(usize),
    /// Arguments of operators.
    Arguments,
}

fn is_join(o: &OperatorSummary) -> bool {
    matches!(o.kind.as_str(), "join" | "combine")
}

fn is_output(o: &OperatorSummary) -> bool {
    o.kind == "output"
}

impl Fact<'_> {
    /// Whether it is a conclusion from the records, not a record.
    pub(super) fn is_conclusion(&self) -> bool {
        matches!(
            self,
            Fact::Finding(_)
                | Fact::Rule(_)
                | Fact::Suggestion(_)
                | Fact::Time(_)
                | Fact::Answer(_)
        )
    }
}

/// Operators with a sentence of their own.
const SENTENCES: usize = 2;

/// Part of its weight that a fact has about the stage of an operator that is named, or about a cause that was ruled out.
const NEIGHBOR: f64 = 0.6;

/// The same for a finding that answers "why", or with a named cause.
const WANTED: f64 = 1.3;

/// Answers about the whole job that are facts of their own.
const ANSWERS: [Quantity; 6] = [
    Quantity::Account,
    Quantity::Stages,
    Quantity::Cost,
    Quantity::Inputs,
    Quantity::Missing,
    Quantity::Identity,
];

/// All phrases of a table as one text.
fn phrases((zh, en): (Phrases, Phrases)) -> String {
    format!("{zh} {en}").replace(['|', '*'], " ")
}

/// The words for a cause: its name, its description and the names that people use.
fn of_cause(cause: Cause) -> String {
    let topics = TOPICS.iter().filter(|(includes, ..)| includes(cause));
    let topics: Vec<String> = topics.map(|(_, zh, en)| phrases((zh, en))).collect();
    let rules = diagnosis::rules();
    let what = rules
        .iter()
        .find(|rule| rule.cause == cause)
        .map(|r| r.what);
    let (zh, en) = what.map_or(("", ""), |what| (what.zh, what.en));
    let title = cause.title();
    format!("{} {} {zh} {en} {}", title.zh, title.en, topics.join(" "))
}

/// The facts of a run; `names` are the names of the script in the question.
pub(super) fn all<'a>(
    run: &'a Asked<'a>,
    wording: &Wording,
    names: &[&'a str],
) -> Vec<(Fact<'a>, Features)> {
    let mut facts: Vec<(Fact<'a>, Features)> = Vec::new();
    for measure in book::ALL.iter().copied() {
        let says = measure.explained(run.vertex());
        let words = phrases((measure.words.zh, measure.words.en));
        let terms = terms::of_measure(measure);
        let text = format!("{} {} {words} {terms}", says.zh, says.en);
        facts.push((Fact::Value(measure), Features::of_measure(measure, &text)));
    }
    let mut add = |fact, text: String| facts.push((fact, Features::of_text(&text)));
    of_report(run, &mut add);
    of_words(run, wording, &mut add);
    of_run(run, names, &mut add);
    facts
}

/// Adds findings, suggestions and outcomes of rules.
fn of_report<'a>(run: &'a Asked<'a>, add: &mut impl FnMut(Fact<'a>, String)) {
    let report = run.report;
    for found in report.findings.iter().chain(&report.notes) {
        let evidence = report.evidence_of(&found.evidence).map(|e| e.text.as_str());
        let evidence: Vec<&str> = evidence.collect();
        let text = format!(
            "{} {} {}",
            found.summary,
            of_cause(found.cause),
            evidence.join(" ")
        );
        add(Fact::Finding(found), text);
    }
    for s in &report.suggestions {
        let mut of_finding = report.findings.iter();
        let of_finding = of_finding.find(|f| Some(&f.id) == s.finding.as_ref());
        let cause = of_finding.map_or(String::new(), |f| of_cause(f.cause));
        add(Fact::Suggestion(s), format!("{} {cause}", s.title));
    }
    let is_told = |r: &&RuleOutcome| {
        matches!(
            r.outcome,
            RuleResult::Cleared | RuleResult::Explained | RuleResult::Abstained
        )
    };
    for rule in report.rules.iter().filter(is_told) {
        add(
            Fact::Rule(rule),
            format!("{} {}", rule.text, of_cause(rule.cause)),
        );
    }
}

/// Adds facts that count only if the question has their words.
fn of_words<'a>(run: &'a Asked<'a>, wording: &Wording, add: &mut impl FnMut(Fact<'a>, String)) {
    let defines = Scan::of(wording.text()).has(Define);
    let is_named = |zh, en| wording.has(zh, en);
    let has_some = |kind| time::seconds_of(run, kind, None) > 0.0;
    let kinds = SEGMENTS
        .iter()
        .filter(|(kind, zh, en)| is_named(zh, en) && has_some(*kind));
    for (kind, zh, en) in kinds {
        let title = kind.title();
        let text = format!("{} {} {}", title.zh, title.en, phrases((zh, en)));
        add(
            Fact::Time(*kind),
            format!("{text} {}", terms::of_kind(*kind)),
        );
    }
    for term in terms::all().filter(|t| defines && wording.has(t.zh, t.en)) {
        add(
            Fact::Term(term),
            format!(
                "{} {} {}",
                phrases((term.zh, term.en)),
                term.says.zh,
                term.says.en
            ),
        );
    }
    for key in run.summary.settings.keys() {
        let named = SETTINGS.iter().filter(|(known, ..)| known == key);
        let named: Vec<String> = named.map(|(_, zh, en)| phrases((zh, en))).collect();
        add(
            Fact::Setting(key),
            format!("{key} {} setting config 设置 配置", named.join(" ")),
        );
    }
    for (quantity, zh, en) in QUANTITIES.iter().filter(|(q, ..)| ANSWERS.contains(q)) {
        if !wording.has(zh, en) {
            continue;
        }
        add(Fact::Answer(*quantity), phrases((zh, en)));
    }
}

/// Adds facts about inputs, script, failure and stages.
fn of_run<'a>(run: &'a Asked<'a>, names: &[&'a str], add: &mut impl FnMut(Fact<'a>, String)) {
    for (at, input) in run.summary.inputs.iter().enumerate() {
        let layout = input.layout.as_deref().unwrap_or_default();
        add(
            Fact::Columns(at),
            format!("列 字段 类型 模式 格式 columns column fields schema types type format {}", input.format.as_deref().unwrap_or_default()),
        );
        add(
            Fact::Reads(at),
            "读取次数 读几次 读了几次 重复 扫描 几遍 次 times often read reads scanned scans twice again repeatedly".to_owned(),
        );
        add(
            Fact::Input(at),
            format!(
                "{layout} 存储 布局 列 键 空值 不同值 热点 最热 hot hottest frequent stored layout clustered column key null distinct"
            ),
        );
    }
    for name in names {
        let lines = mention::lines(run, name);
        let texts: Vec<&str> = lines.iter().map(|(_, text)| *text).collect();
        let words = "脚本 代码 定义 调用 哪行 第几行 script code defined called line function";
        add(Fact::Mention(name), format!("{words} {}", texts.join(" ")));
    }
    for (at, statement) in run
        .statements()
        .iter()
        .enumerate()
        .filter(|(_, s)| !s.hints.is_empty())
    {
        let hints: Vec<String> = statement.hints.iter().map(|h| h.name.clone()).collect();
        add(Fact::Hints(at), format!("hint 提示 {}", hints.join(" ")));
    }
    if let Some(error) = &run.summary.error {
        let words = "失败 报错 错误 异常 抛出 崩溃 挂 类 方法 代码 failed error exception threw crashed class method code";
        add(Fact::Failure, format!("{words} {error}"));
    }
    let fixed = [
        (Fact::Strategy, "连接方式 连接类型 算法 广播 归并 哈希 分发 join kind type strategy algorithm implemented broadcast merge hash sort distributed"),
        (Fact::Attempts, "失败 重试 尝试 原因 报错 机器 failed attempt attempts retried retry reason reasons error errors machine host lost message"),
        (Fact::Cache, "缓存 cache cached persist persisted caching"),
        (Fact::Written, "输出 列 字段 output columns column fields schema types"),
        (Fact::Arguments, "条件 表达式 谓词 排序 分区 计算 condition expression predicate filter order sort partition computed formula window by argument"),
    ];
    fixed.into_iter().for_each(|(fact, words)| add(fact, words.to_owned()));
    add(
        Fact::Flow,
        "上游 下游 读自 写给 upstream downstream reads from feeds input of next before after"
            .to_owned(),
    );
    add(
        Fact::Place,
        "脚本 行 语句 代码 哪几行 执行 lines line script statement code execute".to_owned(),
    );
    add(
        Fact::Keys(Entity::Operator),
        "键 分组 连接键 key keys group by join on column columns 列".to_owned(),
    );
    add(
        Fact::Keys(Entity::Exchange),
        "分区 键 分区键 partitioned by partitioning key hash range 列".to_owned(),
    );
}

impl<'a> Query<'a> {
    /// The things of a kind that the question is about and that have a measure.
    fn having(&self, measure: &'static Measure) -> Vec<Row<'a>> {
        let mut rows = self.rows(measure.entity);
        rows.retain(|row| row.values.value(measure).is_some());
        rows
    }

    /// Whether a kind of thing belongs to the named one.
    fn reaches(&self, entity: Entity) -> bool {
        let is_any = |is_it: fn(&Subject) -> bool| self.subjects.iter().any(is_it);
        let (stage, operator) = (
            is_any(|s| matches!(s, Subject::Stage(_))),
            is_any(|s| matches!(s, Subject::Operator(..))),
        );
        let names_operators = self.keywords().next().is_some() || self.names(Thing::Operator);
        match entity {
            _ if self.is_whole() => names_operators == (entity == Entity::Operator),
            Entity::Operator => operator || stage && names_operators,
            Entity::Stage => stage || operator,
            Entity::Exchange => stage && !operator,
            Entity::Input => is_any(|s| matches!(s, Subject::Input(_))),
            Entity::Column => is_any(|s| matches!(s, Subject::Column(_))),
            Entity::Job | Entity::Executor | Entity::Execution => false,
        }
    }

    /// Whether the question names no part of the run.
    fn is_whole(&self) -> bool {
        self.subjects == [Subject::Job]
    }

    /// Whether the question names a setting by the words of users.
    pub(super) fn names_setting(&self, fact: &Fact<'_>) -> bool {
        matches!(fact, Fact::Setting(key) if self.intent.names_setting(key))
    }

    /// Part of its weight that a fact about a neighbor of the named things has.
    pub(super) fn nearness(&self, fact: &Fact<'_>) -> f64 {
        let stages = &self.run.summary.stages;
        // a stage writes the rows of its output
        let is_operator = |s: &Subject| match s {
            Subject::Operator(at, o) => stages[*at].operators[*o].kind != "output",
            _ => false,
        };
        let counts = self.scan.has(Number);
        let report = self.run.report;
        let asks = |q| self.intent.asks(q);
        let asks_place = self.has(Place) || Wording::of(&self.intent.text).has("哪里", "where");
        let is_open = self.intent.asks_why
            || asks(Quantity::Reason)
            || asks(Quantity::Verdict)
            || asks(Quantity::Remedy)
            || report.job.state == JobState::Failed;
        match fact {
            Fact::Value(m)
                if m.entity != Entity::Operator && self.subjects.iter().any(is_operator) =>
            {
                NEIGHBOR
            }
            Fact::Value(m) if m.entity == Entity::Job && self.intent.names_job => 1.0 / NEIGHBOR,
            Fact::Mention(_) if asks_place => 1.0 / NEIGHBOR,
            Fact::Finding(_) if self.intent.asks_why => WANTED,
            Fact::Finding(found) if self.intent.causes.contains(&found.cause) && !counts => WANTED,
            Fact::Finding(_) | Fact::Suggestion(_) if counts || !is_open => NEIGHBOR,
            Fact::Rule(_) if counts => NEIGHBOR * NEIGHBOR,
            Fact::Rule(_) => NEIGHBOR,
            _ => 1.0,
        }
    }

    /// Whether a text is about one of the subjects.
    fn is_about(&self, text: &str, of_stage: Option<&str>) -> bool {
        let stages = &self.run.summary.stages;
        self.subjects.iter().any(|subject| match subject {
            Subject::Job => true,
            Subject::Stage(at) => {
                of_stage == Some(stages[*at].name.as_str()) || text.contains(&stages[*at].name)
            }
            Subject::Operator(at, o) => {
                let operator = &stages[*at].operators[*o];
                let mut names = operator.names.iter().chain([&operator.id]);
                names.any(|name| text.contains(name.as_str()))
                    || of_stage == Some(stages[*at].name.as_str())
            }
            Subject::Input(at) => text.contains(&self.run.summary.inputs[*at].name),
            Subject::Column(name) => text.contains(name.as_str()),
            _ => false,
        })
    }

    /// Whether a fact is about the named thing, and is not empty.
    pub(super) fn fits(&self, fact: &Fact<'_>) -> bool {
        let is_whole = self.is_whole() && self.keywords().next().is_none();
        let has_stage = self
            .intent
            .subjects
            .iter()
            .any(|s| matches!(s, Subject::Stage(_) | Subject::Operator(..)));
        match fact {
            Fact::Value(measure) => {
                self.reaches(measure.entity) && !self.having(measure).is_empty()
            }
            Fact::Finding(found) => {
                let mut evidence = self.run.report.evidence_of(&found.evidence);
                self.is_about(&found.summary, found.stage.as_deref())
                    || evidence.any(|e| self.is_about(&e.text, None))
            }
            Fact::Suggestion(suggestion) => {
                let mut findings = self.run.report.findings.iter();
                let of = findings.find(|f| Some(&f.id) == suggestion.finding.as_ref());
                is_whole || of.is_some_and(|f| self.is_about(&f.summary, f.stage.as_deref()))
            }
            Fact::Rule(rule) => {
                self.intent.causes.contains(&rule.cause) && self.is_about(&rule.text, None)
            }
            Fact::Time(kind) => {
                is_whole
                    || self
                        .stages()
                        .any(|name| time::seconds_of(self.run, *kind, Some(name)) > 0.0)
            }
            Fact::Setting(_) | Fact::Answer(_) | Fact::Failure => is_whole,
            Fact::Term(_) | Fact::Mention(_) => true,
            Fact::Hints(at) => is_whole || self.has_hints(*at),
            Fact::Flow | Fact::Place => has_stage,
            Fact::Keys(entity) => match entity {
                Entity::Operator => {
                    self.reaches(*entity) && !is_whole || self.keywords().next().is_some()
                }
                _ => is_whole || has_stage,
            },
            Fact::Input(at) | Fact::Columns(at) => is_whole || self.subjects.contains(&Subject::Input(*at)),
            Fact::Reads(at) => {
                let input = &self.run.summary.inputs[*at];
                let is_first = self.run.summary.inputs.iter().position(|i| i.name == input.name) == Some(*at);
                is_first && (is_whole || self.subjects.contains(&Subject::Input(*at)))
            }
            Fact::Strategy => self.operators().any(|(.., o)| is_join(o)),
            Fact::Arguments => !is_whole && self.operators().any(|(.., o)| !o.args.is_empty()),
            Fact::Written => is_whole && self.run.summary.stages.iter().flat_map(|s| &s.operators).any(is_output),
            Fact::Cache => self.run.summary.stages.iter().flat_map(|s| &s.operators).any(record::reads_cache),
            Fact::Attempts => self.meant_stages().any(|s| !s.lost.is_empty() || !s.messages.is_empty()),
        }
    }

    /// Whether an operator of the subjects runs a statement.
    fn has_hints(&self, statement: usize) -> bool {
        let (first, last) = self.run.statements()[statement].lines;
        let stages = &self.run.summary.stages;
        self.subjects.iter().any(|subject| match subject {
            Subject::Operator(at, o) => {
                let line = stages[*at].operators[*o].line;
                line.is_some_and(|line| (first..=last).contains(&line))
            }
            _ => false,
        })
    }

    /// The stages of the subjects.
    fn stages(&self) -> impl Iterator<Item = &'a str> + '_ {
        let stages = &self.run.summary.stages;
        self.subjects
            .iter()
            .filter_map(move |subject| match subject {
                Subject::Stage(at) | Subject::Operator(at, _) => Some(stages[*at].name.as_str()),
                _ => None,
            })
    }

    /// Says a fact.
    pub(super) fn tell(&self, said: &mut Said<'_>, fact: &Fact<'_>) {
        let run = self.run;
        let at = self.subjects.iter().find_map(|s| match s {
            Subject::Stage(at) | Subject::Operator(at, _) => Some(*at),
            _ => None,
        });
        match fact {
            Fact::Value(measure) => self.value(said, measure),
            Fact::Finding(found) => found::finding_of(said, run, &found.id, false),
            Fact::Suggestion(suggestion) => thing::suggestion(said, run, &suggestion.id),
            Fact::Rule(rule) => {
                let (title, because) = (rule.cause.title(), &rule.text);
                let ids: Vec<String> = rule.evidence.iter().take(found::CITED).cloned().collect();
                said.cite(
                    text!("{title}：{because}", "{title}: {because}", title = title),
                    &ids,
                );
            }
            Fact::Time(kind) => match self.stages().next() {
                None => time::time_of(said, run, *kind, None),
                Some(stage) => time::time_of(said, run, *kind, Some(stage)),
            },
            Fact::Term(term) => said.say(term.says.into()),
            Fact::Setting(key) => setting::about(said, run, key, self.intent),
            Fact::Answer(quantity) => job::answer(said, run, *quantity, self.intent),
            Fact::Flow => at.iter().for_each(|at| stage::flow(said, run, *at)),
            Fact::Place => at
                .iter()
                .for_each(|at| stage::place(said, run, &run.summary.stages[*at])),
            Fact::Keys(entity) => {
                let rows = self.rows(*entity);
                self.tell_keys(said, *entity, &rows);
            }
            Fact::Input(at) => thing::describe_input(said, &run.summary.inputs[*at]),
            Fact::Mention(name) => mention::say(said, run, name),
            Fact::Hints(at) => {
                let (first, last) = run.statements()[*at].lines;
                thing::quote(said, run, first, last);
                let subjects = vec![Subject::Lines(first, last)];
                let query = Query {
                    subjects,
                    ids: Vec::new(),
                    of_script: Vec::new(),
                    scan: Scan::default(),
                    ..*self
                };
                let rows = query.rows(Entity::Operator);
                query.say(said, &rows, &[&book::OPERATOR_ROWS]);
            }
            Fact::Failure => job::failure(said, run),
            Fact::Strategy => {
                let joins = self.operators().filter(|(.., o)| is_join(o)).take(SENTENCES);
                joins.for_each(|(at, o, _)| record::strategy(said, run, at, o));
            }
            Fact::Attempts => self.meant_stages().for_each(|s| record::attempts(said, s)),
            Fact::Cache => record::cache(said, run),
            Fact::Columns(at) => {
                let input = &run.summary.inputs[*at];
                record::columns(said, &input.name, &record::columns_of(run, input));
                if let Some(format) = &input.format {
                    let name = &input.name;
                    said.say(text!("{name} 的格式：{format}", "The format of {name}: {format}"));
                }
            }
            Fact::Written => {
                let operators = run.summary.stages.iter().flat_map(|s| s.operators.iter().map(|o| (o.name_in(&s.name), o)));
                let outputs = operators.filter(|(_, o)| is_output(o));
                outputs.for_each(|(name, o)| record::columns(said, &name, &o.columns));
            }
            Fact::Reads(at) => record::reads(said, run, &run.summary.inputs[*at]),
            Fact::Arguments => {
                let all = self.operators().take(SENTENCES);
                all.for_each(|(at, _, o)| record::arguments(said, &run.summary.stages[at].name, o));
            }
        }
    }

    /// The operators that are meant, with the indices of their stage and their own.
    fn operators(&self) -> impl Iterator<Item = (usize, usize, &'a OperatorSummary)> {
        let stages = &self.run.summary.stages;
        let rows = self.rows(Entity::Operator).into_iter();
        rows.filter_map(|row| {
            let (at, own) = (row.stage?, row.operator?);
            let operator = stages[at].operators.iter().position(|o| o.id == own.id)?;
            Some((at, operator, own))
        })
    }

    /// The stages of the subjects; all of them if none is named.
    fn meant_stages(&self) -> impl Iterator<Item = &'a StageSummary> {
        let named: Vec<&str> = self.stages().collect();
        let all = self.run.summary.stages.iter();
        all.filter(move |s| named.is_empty() || named.contains(&s.name.as_str()))
    }

    /// Says the values of a measure: of each named thing, else the sum and the largest.
    fn value(&self, said: &mut Said<'_>, measure: &'static Measure) {
        let rows = self.having(measure);
        let is_rows = *measure == book::OPERATOR_ROWS || *measure == book::ROWS_TAKEN;
        if is_rows && rows.len() <= SENTENCES && rows.iter().all(passed::changes) {
            passed::both(said, self, &rows);
            return;
        }
        let is_whole = self.is_whole();
        match measure.entity {
            Entity::Job | Entity::Stage if is_whole => rank::most(said, self.run, &[measure]),
            entity if rows.len() > 2 => {
                self.ranked(said, entity, rows, &[measure]);
            }
            _ => {
                self.say(said, &rows, &[measure]);
            }
        }
    }
}
