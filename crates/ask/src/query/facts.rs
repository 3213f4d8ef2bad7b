//! Statements about a run from its files, with the words of questions about them.

use report::measure::{Entity, Measure, book};
use report::{Cause, Finding, RuleOutcome, RuleResult, SegmentKind, Suggestion};

use super::weigh::Features;
use crate::phrases::{Phrases, QUANTITIES, Quantity, SEGMENTS, SETTINGS, TOPICS};
use crate::term::Term;
use crate::terms;
use crate::wording::Wording;
use crate::words::Scan;
use crate::words::Word::Define;
use crate::{Asked, mention, time};

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
    /// Hints of the script.
    Hints,
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

/// Answers about the whole job that are facts of their own.
const ANSWERS: [Quantity; 7] = [
    Quantity::Place,
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
    let mut add = |fact, text: String| facts.push((fact, Features::of_words(&text)));
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
            format!(
                "列 字段 模式 格式 columns column fields schema format {}",
                input.format.as_deref().unwrap_or_default()
            ),
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
    let hints = run.statements().iter().flat_map(|s| &s.hints);
    let hints: Vec<&str> = hints.map(|hint| hint.name.as_str()).collect();
    if !hints.is_empty() {
        add(Fact::Hints, format!("hint 提示 {}", hints.join(" ")));
    }
    if let Some(error) = &run.summary.error {
        let words = "失败 报错 错误 异常 抛出 崩溃 挂 类 方法 代码 failed error exception threw crashed class method code";
        add(Fact::Failure, format!("{words} {error}"));
    }
    let fixed = [
        (
            Fact::Strategy,
            "连接方式 连接类型 算法 广播 归并 哈希 分发 join kind type strategy algorithm implemented broadcast merge hash sort distributed",
        ),
        (
            Fact::Attempts,
            "失败 重试 尝试 原因 报错 错误 信息 消息 常见 机器 common frequent failed attempt attempts retried retry reason reasons error errors machine host lost message",
        ),
        (Fact::Cache, "缓存 cache cached persist persisted caching"),
        (
            Fact::Written,
            "输出 列 字段 output columns column fields schema types",
        ),
        (
            Fact::Arguments,
            "条件 表达式 谓词 排序 分区 计算 condition expression predicate filter order sort partition computed formula window by argument 列 columns column",
        ),
    ];
    fixed
        .into_iter()
        .for_each(|(fact, words)| add(fact, words.to_owned()));
    add(
        Fact::Flow,
        "上游 下游 读自 写给 分发 分布 广播 distributed sent broadcast upstream downstream reads from feeds input of next before after"
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
