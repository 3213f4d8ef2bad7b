//! Whether an answer covers every word of its question.

use job::script::hints;
use report::measure::book;
use report::{SegmentKind, StaticText, text};

use crate::intent::Intent;
use crate::reading::Reading;
use crate::said::{Said, names};
use crate::spelling::{Place, is_name};
use crate::subject::Subject;
use crate::vocabulary::texts;
use crate::word::{Cue, Quantity, Thing, Word};
use crate::{Asked, record};

use super::rows::kinds;
use Thing::*;
use Word::*;
use runs::OperatorSummary;

/// Texts of an answer about rows; “运行” has a 行 too.
const ROWS: &[&str] = &["row", "万行", "亿行", " 行", "行数", "数据行"];

/// Words with the texts that prove an answer to them.
#[rustfmt::skip]
const SPOKEN: &[(Word, &[&str])] = &[
    (Place, &["line", "第 "]),
    (Median, &["median", "中位"]),
    (Mean, &["average", "mean", "平均"]),
    (Rate, &["per second", "每秒"]),
    (Estimated, &["estimate", "expected", "估计"]),
    (Share, &["%"]),
    (Rows, ROWS),
    (Noun(Machine), &["machine", "机器", "node", "executor", "] v", "which ran on", "上运行"]),
    (Of(&book::WAIT), &["wait", "queue", "start", "capacity", "等", "排队", "启动"]),
    (Noun(File), &["file", "文件", "`", ".py", ".cs", ".script"]),
    (Of(&book::WAVES), &["as many vertices as tokens", "as many tasks as", "令牌数的", "槽位数的", "wave", "波"]),
    (Of(&book::PLANNED), &["ran to", "运行到结束"]),
    (SparkJob, &[]),
    (Of(&book::TOKENS), &["core", "核"]),
    (Passed, &["takes in", "读入", "各输入", "fewer", "as many", "lost"]),
    (Arrived, &["registered", "就绪"]),
    (Who, &["submi", "提交", "process", "reduc", "executor", "exception", "异常", "run by", "运行"]),
    (When, &["submi", "after", "提交", "后", "registered", "就绪"]),
    (Noun(Stage), &["stage", "阶段", "sv"]),
    (Noun(Cache), &["cache", "缓存"]),
    (Noun(Column), &["column", "列", "key", "键", "on ", ": `", "：`"]),
    (Noun(Executor), &["executor", "slot", "槽"]),
    (Noun(Exchange), &["shuffl", "exchange", "broadcast", "hash", "→", "cross", "传输", "交换", "repartition"]),
    (Noun(Operator), &["operator", "算子"]),
    (Noun(Partition), &["partition", "分区", ": `", "：`"]),
    (Noun(Execution), &["execution", "sql", "查询"]),
    (Kind("JOIN"), &["join", "combine", "连接"]),
    (Kind("COMBINE"), &["combine"]),
    (Kind("GROUP BY"), &["aggregat", "reduce", "group", "聚合", "分组"]),
    (Kind("WHERE"), &["filter", "where", "transform", "fewer", "过滤", "减少", "keep"]),
    (Kind("ORDER BY"), &["sort", "order by", "排序"]),
    (Kind("REDUCE"), &["reduc"]),
    (Kind("PROCESS"), &["process", "udf", "user code", "用户代码", "python"]),
    (Kind("EXTRACT"), &["extract", "scan", "getsstream", "读取", "reading"]),
    (Kind("UNION"), &["union", "合并"]),
    (Kind("WINDOW"), &["window", "窗口"]),
    (Kind("BROADCAST"), &["broadcast", "广播"]),
    (Least, &["smallest", "least", "fewest", "最小"]),
];

/// Units of times.
const TIMES: [&str; 9] = ["s", "ms", "min", "h", "d", "毫秒", "秒", "分", "小时"];

/// Whether a text has a number with one of some units.
fn has_number(text: &str, units: &[&str]) -> bool {
    let is_digit = |c: char| c.is_ascii_digit();
    text.match_indices(is_digit).any(|(at, digit)| {
        let after = text[at + digit.len()..].trim_start();
        units.iter().any(|unit| {
            let tail = after.strip_prefix(unit);
            tail.is_some_and(|tail| !tail.starts_with(|c: char| c.is_ascii_alphabetic()))
        })
    })
}

impl Word {
    /// Whether an answer has a text or number for the word.
    fn is_in(&self, answer: &str) -> bool {
        let has = |text: &str| answer.contains(&text.to_lowercase());
        match self {
            Of(measure) => {
                let title = measure.title.en.split(' ').filter(|word| word.len() > 3);
                let words = texts(measure.words.zh, measure.words.en);
                let words = words.map(|word| word.trim().trim_end_matches('*'));
                let spoken = SPOKEN.iter().find(|(spoken, _)| spoken == self);
                let spoken = spoken
                    .into_iter()
                    .flat_map(|(_, texts)| texts.iter().copied());
                let mut names = title.chain([measure.title.zh]).chain(words).chain(spoken);
                names.any(|name| !name.is_empty() && has(name))
            }
            Time => has_number(answer, &TIMES),
            Number => answer.contains(|c: char| c.is_ascii_digit()) || has("none") || has("没有"),
            Bytes => {
                let is_rows = ROWS.iter().any(|text| has(text));
                is_rows || has_number(answer, &["b", "kib", "mib", "gib", "tib"])
            }
            word => {
                let texts = SPOKEN.iter().find(|(spoken, _)| spoken == word);
                texts.is_none_or(|(_, texts)| texts.iter().any(|text| has(text)))
            }
        }
    }

    /// Whether it asks for an amount, which an answer to "why" needn't have.
    fn is_amount(&self) -> bool {
        matches!(
            self,
            Time | Number | Bytes | Rows | Share | Mean | Median | Place | Least | Not | When
        )
    }
}

/// Units of rows.
const OF_ROWS: [&str; 8] = [
    "row", "rows", "M rows", "B rows", "T rows", "行", "万行", "亿行",
];

/// Texts of answers that there is no such thing or number.
#[rustfmt::skip]
const UNKNOWN: [&str; 10] = [
    "no file", "没有文件", "did not run", "没有运行", "ruled out", "已排除", "not so", "并非如此", "no stage has", "没有哪个阶段",
];

/// Units of bytes.
const OF_BYTES: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];

/// The things that a question counts, if the answer has no number.
pub(crate) fn lacking(intent: &Intent, answer: &str) -> Option<StaticText> {
    let spoken = answer.to_lowercase();
    let is_unknown = UNKNOWN.iter().any(|text| spoken.contains(text));
    let scan = &intent.reading;
    // "which stage writes the most data?" is not about times
    let amounts = [Rows, Bytes, Data];
    let extreme = scan.has_any(&[Most, Least]) && scan.has_any(&amounts) && !scan.has(Time);
    let rows = scan.shows(Cue::HowManyRows);
    let bytes = scan.shows(Cue::HowBig);
    match () {
        _ if is_unknown => None,
        _ if rows && !has_number(answer, &OF_ROWS) => Some(StaticText {
            zh: "行数",
            en: "rows",
        }),
        _ if extreme && !has_number(answer, &OF_BYTES) && !has_number(answer, &OF_ROWS) => {
            Some(StaticText {
                zh: "数据量",
                en: "amount of data",
            })
        }
        _ if bytes && !has_number(answer, &OF_BYTES) && !has_number(answer, &OF_ROWS) => {
            Some(StaticText {
                zh: "大小",
                en: "size",
            })
        }
        _ => None,
    }
}

/// Whether an answer is silent about a word of its question.
pub(crate) fn leaves_out(run: &Asked<'_>, intent: &Intent, answer: &str) -> bool {
    // a class of the user's own is no definition
    let words = Reading::of(&intent.text.replace("自定义", ""));
    let only_explains = words.shows(Cue::Explains) && !words.shows(Cue::Happens);
    let is_silent = || unspoken(run, intent, answer).next().is_some();
    only_explains || lacking(intent, answer).is_some() || is_silent()
}

/// The words of a question that its answer does not cover.
pub(crate) struct Missing {
    /// Names that it lacks.
    pub(crate) names: Vec<String>,
    /// Whether it lacks other words.
    pub(crate) has_some: bool,
    /// Whether the answer covers less than half of the question.
    pub(crate) is_most: bool,
}

/// Bytes of a word that a longer word may have by chance.
const SHORT: usize = 4;

/// Whether an unknown word is more than one Chinese character, which often is a part of an ordinary word.
fn is_weighty(word: &str) -> bool {
    word.is_ascii() || word.chars().count() > 1
}

/// Whether a word of a question, in the letters of its writer, names something: an identifier or a quoted name. Ordinary words never do.
pub(crate) fn names_something(question: &str, word: &str) -> bool {
    let lower = question.to_ascii_lowercase();
    let is_loud = !question.contains(|c: char| c.is_ascii_lowercase());
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut places = lower.match_indices(word).filter(|(at, _)| {
        !lower[..*at].ends_with(is_part) && !lower[at + word.len()..].starts_with(is_part)
    });
    places.any(|(at, _)| {
        let span = at..at + word.len();
        let written = &question[span.clone()];
        let letters = written.bytes().filter(u8::is_ascii_alphabetic).count();
        let in_capitals =
            !is_loud && letters > 2 && written.bytes().all(|b| b.is_ascii_uppercase());
        let has_digit = letters > 1 && written.bytes().any(|b| b.is_ascii_digit());
        let is_quoted = Place { question, span }.is_quoted();
        written.is_ascii() && (is_name(written) || in_capitals || has_digit || is_quoted)
    })
}

/// The phrases, the words and the names of a question that its answer does not cover.
pub(crate) fn missing(run: &Asked<'_>, intent: &Intent, answer: &str) -> Missing {
    let reading = &intent.reading;
    let silent = unspoken(run, intent, answer);
    let mut pieces: Vec<String> = silent.map(str::to_owned).collect();
    let mut names: Vec<String> = Vec::new();
    let records = reading.places(|word| matches!(word, Word::Record(_)).then_some(()));
    let is_record = |word: &str| {
        let mut records = records.iter();
        records.any(|(_, place)| reading.text()[place.clone()].contains(word))
    };
    let unknown = unknown(reading.text()).1.into_iter();
    let unknown =
        unknown.filter(|word| word.len() >= SHORT && is_weighty(word) && !is_record(word));
    for word in unknown.filter(|word| is_left(run, intent, answer, word)) {
        match names_something(&intent.text, &word) {
            true => names.push(word),
            false => pieces.push(word),
        }
    }
    let is_there = |name: &str| answer.contains(name);
    for subject in &intent.subjects {
        let (name, is_told) = match subject {
            Subject::Column(name) => (name, is_there(name)),
            Subject::Input(at) => {
                let input = &run.summary.inputs[*at];
                let is_read = input.reader.iter().any(|reader| is_there(reader));
                let mut readers = record::readers(run, input);
                let is_read = is_read || readers.any(|(_, o)| is_there(&o.id));
                (&input.name, is_there(&input.name) || is_read)
            }
            _ => continue,
        };
        names.extend((!is_told).then(|| name.clone()));
    }
    // "doesn't it?" asks for no absence
    pieces.retain(|piece| !piece.contains('\''));
    pieces.dedup();
    let is_content = |w: &Word| !matches!(w, Filler | Other | Each | Not | In | Out | Run);
    let phrases = reading.phrases.iter();
    let asked = phrases.filter(|(words, _)| words.iter().any(is_content));
    let covered = asked.filter(|(_, text)| !pieces.contains(text)).count();
    Missing {
        is_most: pieces.len() + names.len() > covered,
        has_some: !pieces.is_empty(),
        names,
    }
}

/// Says the names of a question that its answer does not cover, before the answer.
pub(crate) fn admit(said: &mut Said<'_>, run: &Asked<'_>, intent: &Intent) {
    let Missing {
        names: lacks,
        has_some,
        ..
    } = missing(run, intent, &said.text());
    let told = [Quantity::Account, Quantity::Identity, Quantity::Cost];
    let is_told = told.iter().any(|q| intent.asks(*q));
    let language = said.language();
    let quoted = |[open, close]: [&str; 2]| {
        let names = lacks.iter().map(|name| format!("{open}{name}{close}"));
        names.collect::<Vec<_>>()
    };
    let (zh, en) = (
        names(&quoted(["“", "”"]), language),
        names(&quoted(["\"", "\""]), language),
    );
    match lacks.is_empty() {
        false => said.lead(text!(
            "没有记录回答{zh}，以下是最接近的记录",
            "No record answers {en}; the nearest records follow"
        )),
        true if has_some && !is_told => {
            said.lead(text!("最接近的记录如下", "The nearest records follow"))
        }
        true => {}
    }
}

/// Whether neither the script nor an answer has an unknown word.
fn is_left(run: &Asked<'_>, intent: &Intent, answer: &str, word: &str) -> bool {
    let script = run.summary.script.as_ref().map_or("", |s| s.text.as_str());
    let is_part = |c: char| c.is_ascii_alphanumeric();
    let has = |text: &str| {
        let text = text.to_lowercase();
        let mut places = text.match_indices(word);
        places.any(|(at, _)| {
            let after = &text[at + word.len()..];
            let tail = &after[..after.len() - after.trim_start_matches(is_part).len()];
            let is_whole = !text[..at].ends_with(is_part);
            let is_form = is_whole && matches!(tail, "" | "s" | "es" | "d" | "ed" | "ing");
            word.len() > SHORT || is_form
        })
    };
    let is_number = word.starts_with(|c: char| c.is_ascii_digit());
    let is_stated = intent.asks_why() || intent.goal.is_some() || !intent.durations().is_empty();
    let is_id = intent.reading.has_any(&[Noun(Executor), Noun(Execution)]);
    word.len() > 1
        && !(is_number && (is_stated || is_id))
        && !(word.len() > 4 && has(script))
        && (!is_weighty(word) || !has(answer))
}

/// The phrases of a question that an answer is silent about.
fn unspoken<'i>(
    run: &Asked<'_>,
    intent: &'i Intent,
    answer: &str,
) -> impl Iterator<Item = &'i str> {
    let operators = run.operators();
    let names_kind = |keyword: &str| {
        let of_kind = |o: &&OperatorSummary| kinds(keyword).contains(&o.kind.as_str());
        operators
            .clone()
            .filter(of_kind)
            .any(|o| answer.contains(&o.id))
    };
    let is_named = |word: &Word| match word {
        Kind(keyword) => names_kind(keyword),
        Noun(Operator) => operators.clone().any(|o| answer.contains(&o.id)),
        _ => false,
    };
    let spoken = answer.to_lowercase();
    let scan = &intent.reading;
    // "no file gives …" has no amount
    let is_unknown = UNKNOWN.iter().any(|text| spoken.contains(text));
    // "was the broadcast small enough?" asks for a verdict
    let is_verdict = intent.is_polar() && !intent.causes.is_empty();
    let is_excused = |word: &Word| match word {
        Not => {
            let is_idle = intent.asks(Quantity::Segment(SegmentKind::Idle));
            is_idle || intent.asks_why() || intent.is_polar() && !scan.has(Which)
        }
        Who => intent.subjects.len() == 2,
        Noun(_) if is_unknown || !intent.causes.is_empty() => true,
        Kind(_) if scan.has(Place) || scan.has(Arrived) => true,
        Place if intent.asks(Quantity::Remedy) => true,
        Time if scan.has(Place) => true,
        Of(_) if !intent.causes.is_empty() => true,
        word => (intent.asks_why() || is_unknown || is_verdict) && word.is_amount(),
    };
    let is_spoken = |word: &Word| is_excused(word) || is_named(word) || word.is_in(&spoken);
    let says = |words: &[Word]| match words {
        [Not, ..] => is_excused(&Not),
        [first @ SparkJob, ..] | [first @ Who, ..] | [first @ When, ..] => is_spoken(first),
        words => words.iter().any(is_spoken),
    };
    let silent = scan.phrases.iter().filter(|(words, _)| !says(words));
    let silent: Vec<&str> = silent.map(|(_, text)| text.as_str()).collect();
    silent.into_iter()
}

/// Whether a question that names no quantity asks for more than an overview of the things that it names.
pub(crate) fn is_more_than_overview(intent: &Intent) -> bool {
    let scan = &intent.reading;
    let is_part = |s: &Subject| {
        matches!(
            s,
            Subject::Stage(_) | Subject::Operator(..) | Subject::Input(_)
        )
    };
    let is_content = |w: &Word| {
        matches!(
            w,
            Kind(_) | Noun(Operator) | Number | Rate | Who | When | Passed | Estimated | Share
        )
    };
    intent.asks_nothing()
        && intent.causes.is_empty()
        && intent.subjects.iter().any(is_part)
        && scan.words.iter().any(is_content)
}

/// Unknown words of an open question, and ordinary ones of any other.
const TOLD: usize = 6;
const ORDINARY: usize = 2;

/// Whether a question has a word that neither a table nor its answer knows. Clauses without any known word are small talk.
pub(crate) fn has_unknown(run: &Asked<'_>, intent: &Intent, answer: &str) -> bool {
    let lower = intent.text.to_lowercase().replace('’', "'");
    let is_end = |c: char| matches!(c, '.' | '!' | '?' | '。' | '！' | '？' | '\n');
    let sentences: Vec<&str> = lower.split_inclusive(is_end).collect();
    let mut questions = sentences.clone();
    questions.retain(|sentence| sentence.trim_end().ends_with(['?', '？']));
    let asking = if questions.is_empty() {
        sentences
    } else {
        questions
    };
    let clauses = asking
        .into_iter()
        .flat_map(|s| s.split([',', ';', '，', '；']));
    let parts = clauses.map(unknown);
    let mut known = parts.filter(|(is_known, _)| *is_known).peekable();
    let spoken = answer.to_lowercase();
    let is_left = |word: &&String| is_left(run, intent, answer, word);
    let has_hint = intent
        .text
        .split(|c: char| !c.is_ascii_alphanumeric())
        .any(|word| {
            let is_hint = word.len() > 4 && hints::find(word).is_some();
            is_hint && !spoken.contains(&word.to_lowercase())
        });
    let is_unknown = known.peek().is_none();
    let left = known.flat_map(|(_, left)| left);
    let left: Vec<String> = left.filter(|word| is_left(&word)).collect();
    // an open question about the trouble of the job may tell more of it
    let is_content = |w: &Word| !matches!(w, Filler | Other | Which | Not);
    let phrases = intent.reading.phrases.iter();
    let content = phrases
        .filter(|(words, _)| words.iter().any(is_content))
        .count();
    use Quantity::{Account, Reason, Remedy, Verdict};
    let concludes = [Account, Reason, Remedy, Verdict]
        .iter()
        .any(|q| intent.asks(*q));
    let concludes = concludes && intent.subjects == [Subject::Job];
    let allowed = match intent.is_open {
        true => TOLD,
        false if !concludes || intent.reading.asks_yes_no() => 0,
        false => content.min(ORDINARY),
    };
    let is_name = |word: &String| names_something(&intent.text, word);
    has_hint || is_unknown || left.len() > allowed || !intent.is_open && left.iter().any(is_name)
}

/// Whether a text has a word with a meaning, and the words that no phrase covers.
fn unknown(text: &str) -> (bool, Vec<String>) {
    let tokens = Reading::tokens(text);
    let mut words = tokens.iter().flat_map(|token| &token.words);
    let is_known = words.any(|word| *word != Filler);
    let mut left: Vec<String> = Vec::new();
    let mut goes_on = false;
    for token in &tokens {
        let is_chinese = !token.is_known && !token.text.is_ascii();
        match left.last_mut().filter(|_| goes_on && is_chinese) {
            Some(last) => last.push_str(token.text),
            None if !token.is_known => left.push(token.text.to_owned()),
            None => {}
        }
        goes_on = is_chinese;
    }
    (is_known, left)
}
