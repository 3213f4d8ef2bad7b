//! Makes true sentences false in one thing: a stage, a column, a unit, a sign, a citation, a gain, a cause, a digit.

use report::{Cause, Evidence, EvidenceValue, Finding, Language, Localize, RuleResult};

use super::Analyzed;
use super::truths::{self, Sentence};

type Claim = (&'static str, Sentence);

pub(super) fn of(analyzed: &Analyzed, language: Language) -> Vec<Claim> {
    let mut all: Vec<Claim> = Vec::new();
    for truth in truths::plain(analyzed, language) {
        let made = falsified(analyzed, &truth.text);
        for (kind, text) in made {
            let other = truths::reworded(&text, language).into_iter().take(2);
            let texts: Vec<String> = other.chain([text.clone()]).collect();
            all.extend(texts.into_iter().map(|text| (kind, Sentence::of(text))));
        }
    }
    for truth in truths::translated(analyzed, language) {
        let made = falsified(analyzed, &truth.text).into_iter();
        all.extend(made.map(|(_, text)| ("translated", Sentence::of(text))));
    }
    all.extend(causes(analyzed, language));
    all.extend(playbook(language));
    if analyzed
        .input
        .suggestions
        .iter()
        .any(|s| !s.gain.is_empty())
    {
        all.extend(denials(language));
    }
    all
}

fn falsified(analyzed: &Analyzed, text: &str) -> Vec<Claim_> {
    let mut made = Vec::new();
    made.extend(stages(analyzed, text).map(|text| ("stage", text)));
    made.extend(columns(analyzed, text).map(|text| ("column", text)));
    made.extend(units(text).into_iter().map(|text| ("unit", text)));
    made.extend(signs(text).into_iter().map(|text| ("sign", text)));
    made.extend(
        evidence(analyzed, text)
            .into_iter()
            .map(|text| ("evidence", text)),
    );
    made.extend(gains(analyzed, text).into_iter().map(|text| ("gain", text)));
    made.extend(
        cause(analyzed, text)
            .into_iter()
            .map(|text| ("cause", text)),
    );
    made.extend(rounded(text).into_iter().map(|text| ("round", text)));
    made
}

type Claim_ = (&'static str, String);

/// Another stage of the job in the place of the first that a sentence names.
fn stages(analyzed: &Analyzed, text: &str) -> Option<String> {
    let stages: Vec<&str> = analyzed
        .job
        .stages
        .iter()
        .map(|s| s.name.as_str())
        .collect();
    let named = stages.iter().filter(|s| text.contains(**s));
    let named = *named.max_by_key(|s| s.len())?;
    let found = &analyzed.input.facts.found;
    let is_of_finding = |stage: &str| found.findings.iter().any(|f| f.summary.contains(stage));
    let other = stages
        .iter()
        .find(|s| !is_of_finding(s) && !s.contains(named) && !named.contains(**s))?;
    Some(text.replace(named, other))
}

/// The text with a column unrelated to the findings in place of theirs.
fn columns(analyzed: &Analyzed, text: &str) -> Option<String> {
    let mut all: Vec<String> = Vec::new();
    for operator in analyzed.job.stages.iter().flat_map(|s| &s.operators) {
        let channels = operator.inputs.iter().chain(&operator.outputs);
        let schema = channels.flat_map(|c| c.schema.iter().map(|c| c.name.clone()));
        all.extend(schema.chain(operator.keys.clone()));
    }
    all.sort();
    all.dedup();
    all.retain(|name| name.len() > 3 && !name.contains('.'));
    let is_word = |name: &str| {
        let mut places = text.match_indices(name);
        places.any(|(at, _)| {
            let is_letter =
                |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_');
            !is_letter(text[..at].chars().next_back())
                && !is_letter(text[at + name.len()..].chars().next())
        })
    };
    let named = all.iter().find(|name| is_word(name))?;
    let found = &analyzed.input.facts.found;
    let texts = found.findings.iter().map(|f| &f.summary);
    let texts: Vec<&String> = texts
        .chain(found.evidence.iter().map(|e| &e.text))
        .chain(
            analyzed
                .input
                .suggestions
                .iter()
                .flat_map(|s| s.steps.iter().chain([&s.title])),
        )
        .collect();
    let is_unrelated = |name: &&String| texts.iter().all(|t| !t.contains(name.as_str()));
    let other = all.iter().find(is_unrelated)?;
    Some(text.replace(named.as_str(), other))
}

const UNITS: &[(&str, &str)] = &[
    (" GiB", " MiB"),
    (" MiB", " GiB"),
    (" KiB", " MiB"),
    (" M rows", " B rows"),
    (" rows", " vertices"),
    (" s ", " min "),
    (" s)", " min)"),
    (" % ", " times "),
    (" 秒", " 小时"),
    ("万行", "亿行"),
    (" % 的", " 倍的"),
    (" 倍", " %"),
];

fn units(text: &str) -> Vec<String> {
    let has_number = |at: usize| text[..at].ends_with(|c: char| c.is_ascii_digit());
    let changed = UNITS.iter().filter_map(|(from, to)| {
        let (at, _) = text.match_indices(from).find(|(at, _)| has_number(*at))?;
        // "1 min 25 s" would become two amounts.
        let is_compound = text[..at]
            .rsplit(' ')
            .nth(1)
            .is_some_and(|w| ["min", "分", "h", "小时"].contains(&w));
        let changed = format!("{}{to}{}", &text[..at], &text[at + from.len()..]);
        (!is_compound).then_some(changed)
    });
    changed.take(2).collect()
}

const SIGNS: &[(&str, &str)] = &[
    ("would save about", "would cost about"),
    ("would save about", "would not save"),
    ("gains up to", "loses up to"),
    ("times the mean", "times below the mean"),
    ("is skewed on", "is not skewed on"),
    ("约可节省", "约会多用"),
    ("约可节省", "并不能节省"),
    ("是均值的", "不是均值的"),
    ("时数据倾斜", "时没有数据倾斜"),
    ("最大 Task 是均值的", "最大 Task 比均值低"),
];

fn signs(text: &str) -> Vec<String> {
    let mut all: Vec<String> = SIGNS
        .iter()
        .filter(|(from, _)| text.contains(from))
        .map(|(from, to)| text.replacen(from, to, 1))
        .collect();
    if let Some((at, number)) = numbers(text)
        .into_iter()
        .find(|(at, n)| text[at + n.len()..].starts_with(" %"))
    {
        let end = at + number.len();
        all.push(format!("{}-{number}{}", &text[..at], &text[end..]));
    }
    all
}

/// Evidence of another value cited in its place.
fn evidence(analyzed: &Analyzed, text: &str) -> Option<String> {
    let found = &analyzed.input.facts.found;
    let cited = found
        .evidence
        .iter()
        .find(|e| text.contains(&format!("[{}]", e.id)))?;
    let is_other = |e: &&Evidence| {
        let is_far = match (&e.value, &cited.value) {
            (EvidenceValue::Number(a), EvidenceValue::Number(b)) => {
                (a - b).abs() > 0.1 * b.abs() && e.unit != cited.unit
            }
            (EvidenceValue::Text(a), EvidenceValue::Text(b)) => a != b,
            _ => true,
        };
        let shares = numbers(&cited.text)
            .into_iter()
            .any(|(_, n)| e.text.contains(&n));
        is_far && !shares && !same_words(&e.text, &cited.text)
    };
    let other = found.evidence.iter().find(is_other)?;
    Some(text.replace(&format!("[{}]", cited.id), &format!("[{}]", other.id)))
}

/// Whether two sentences differ in a number only.
fn same_words(a: &str, b: &str) -> bool {
    let bare = |text: &str| text.replace(|c: char| c.is_ascii_digit(), "");
    bare(a) == bare(b)
}

/// Amounts of time and shares of the report that are no gain of anything.
fn gains(analyzed: &Analyzed, text: &str) -> Vec<String> {
    let found = &analyzed.input.facts.found;
    let marks = [
        "would save about ",
        "gains up to about ",
        "约可节省 ",
        "收益：最多约 ",
    ];
    let Some((mark, at)) = marks
        .iter()
        .find_map(|m| text.find(m).map(|at| (m, at + m.len())))
    else {
        return Vec::new();
    };
    let _ = mark;
    let rest = &text[at..];
    let end = rest
        .find([' ', '(', '（', ';', '；', '[', '.', '。'])
        .unwrap_or(rest.len());
    let seconds = found
        .findings
        .iter()
        .filter_map(|f| f.impact.as_ref())
        .map(|i| i.seconds_saved);
    let gains: Vec<f64> = seconds.collect();
    let amounts = found
        .evidence
        .iter()
        .filter(|e| e.unit.as_deref() == Some("s"));
    let amounts = amounts.filter_map(|e| match e.value {
        EvidenceValue::Number(n) if (10.0..60.0).contains(&n) => Some(n),
        _ => None,
    });
    let elapsed = analyzed.input.facts.job.elapsed_seconds.map(|s| s / 3.0);
    let amounts = amounts
        .chain(elapsed.filter(|s| *s < 60.0))
        .chain([59.0, 13.0]);
    let mut made = Vec::new();
    for amount in amounts
        .filter(|a| gains.iter().all(|g| (g - a).abs() > 0.08 * g))
        .take(2)
    {
        if rest[..end].parse::<f64>().is_ok()
            && !rest[end..].starts_with(" min")
            && !rest[end..].starts_with(" 分")
        {
            made.push(format!("{}{amount:.0}{}", &text[..at], &rest[end..]));
        }
    }
    if let Some((place, number)) = numbers(rest)
        .into_iter()
        .find(|(p, n)| rest[p + n.len()..].starts_with(" %"))
    {
        let share: f64 = number.parse().unwrap_or_default();
        let other = if share > 50.0 {
            share - 27.0
        } else {
            share + 31.0
        };
        let place = at + place;
        made.push(format!(
            "{}{other:.0}{}",
            &text[..place],
            &text[place + number.len()..]
        ));
    }
    made
}

/// Causes that the rules cleared.
fn cleared(analyzed: &Analyzed) -> Vec<Cause> {
    let outcomes = analyzed.input.facts.found.outcomes.iter();
    let cleared = outcomes.filter(|(_, outcome)| *outcome == RuleResult::Cleared);
    let findings = &analyzed.input.facts.found.findings;
    let fits = |c: &Cause| findings.iter().all(|f| f.cause != *c);
    cleared.map(|(cause, _)| *cause).filter(fits).collect()
}

/// A cleared cause in the place of the one that was found.
fn cause(analyzed: &Analyzed, text: &str) -> Vec<String> {
    let findings = analyzed.input.facts.found.findings.iter();
    let named = |f: &Finding| {
        let names = Language::En.select(["", ""], [f.cause.code(), ""]);
        let title = f.cause.title();
        [names[0], title.zh, title.en]
            .into_iter()
            .find(|n| !n.is_empty() && text.contains(n))
    };
    let Some(name) = findings.into_iter().find_map(named) else {
        return Vec::new();
    };
    let language = Language::of(name);
    let others = cleared(analyzed).into_iter().take(3);
    others
        .map(|other| text.replace(name, &other.title().localize(language)))
        .collect()
}

/// Cleared causes as a claim of their own.
fn causes(analyzed: &Analyzed, language: Language) -> Vec<Claim> {
    let mut all = Vec::new();
    for cause in cleared(analyzed).into_iter().take(6) {
        let title = cause.title().localize(language);
        let code = cause.code();
        let texts = match language {
            Language::Zh => [
                format!("主要问题是{title}。"),
                format!("作业慢的原因是 {code}。"),
            ],
            Language::En => [
                format!("The main problem is {title}."),
                format!("The job is slow because of {code}."),
            ],
        };
        all.extend(texts.map(|text| ("cause", Sentence::of(text))));
    }
    all
}

fn playbook(language: Language) -> Vec<Claim> {
    let texts = language.select(
        [
            "热点键有 9600 万行。",
            "最慢的一个运行了 47 分 13 秒。",
            "热点键占 71 % 的行 [experience/playbook.md#example]，作业因此变慢。",
        ],
        [
            "The hot key has 96,000,000 rows.",
            "The slowest one ran 47 min 13 s.",
            "The hot key has 96 million rows [experience/playbook.md#example], which makes the job slow.",
        ],
    );
    texts.map(|text| ("playbook", Sentence::of(text))).to_vec()
}

fn denials(language: Language) -> Vec<Claim> {
    let texts = language.select(
        [
            "建议的修改不会影响作业的运行时间。",
            "这些改动对运行时间没有影响。",
            "S1 对性能没有帮助。",
        ],
        [
            "The suggested changes do not affect the job's run time.",
            "The changes will not improve the run time.",
            "S1 does not help the job.",
        ],
    );
    texts.map(|text| ("denial", Sentence::of(text))).to_vec()
}

/// A number rounded to one digit, where that makes another number of it.
fn rounded(text: &str) -> Vec<String> {
    let mut made = Vec::new();
    for (at, number) in numbers(text) {
        let behind = &text[at + number.len()..];
        let has_unit = [" %", " s", " M", " GiB", " times", " 秒", " 万", " 倍"]
            .iter()
            .any(|u| behind.starts_with(u));
        let Ok(value) = number.parse::<f64>() else {
            continue;
        };
        let size = 10_f64.powf(value.abs().log10().floor());
        let rough = (value / size).round() * size;
        if has_unit && value > 0.0 && (rough - value).abs() > 0.07 * value {
            made.push(format!("{}{rough}{behind}", &text[..at]));
        }
    }
    made.truncate(2);
    made
}

/// The numbers of a sentence that stand by themselves, with their places.
fn numbers(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = text[at..]
        .find(|c: char| c.is_ascii_digit())
        .map(|n| at + n)
    {
        let length = text[start..].find(|c: char| !c.is_ascii_digit() && c != '.');
        let end = length.map_or(text.len(), |n| start + n);
        let number = text[start..end].trim_end_matches('.');
        let before = text[..start].chars().next_back();
        let is_alone = before.is_none_or(|c| matches!(c, ' ' | '（' | '('));
        if is_alone {
            found.push((start, number.to_owned()));
        }
        at = end;
    }
    found
}
