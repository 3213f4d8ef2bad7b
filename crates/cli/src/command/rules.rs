//! `scopeagent rules`: the purpose of each rule, its required information, and its thresholds.

use diagnosis::{Rule, Settings};
use report::{Cause, Language, StaticText, Text, say, text};
use serde_json::{Value, json};

use crate::args::Rules;
use crate::config::Config;
use crate::exit::Exit;
use crate::render::layout::{stdout_width, wrap};
use crate::terminal::Terminal;
use server::{Result, error};

pub(crate) fn run(args: &Rules, config: &Config, terminal: &Terminal) -> Result<Exit> {
    let settings = crate::session::thresholds(config)?;
    let language = report::interface();
    let prefix = args.cause.as_deref().unwrap_or_default();
    let wanted = |rule: &&Rule| rule.cause.code().starts_with(prefix);
    let rules = diagnosis::rules().iter().copied();
    let rules: Vec<&Rule> = rules.filter(wanted).collect();
    let mut of_account = Cause::ALL.to_vec();
    of_account.retain(|cause| {
        let mut rules = diagnosis::rules().iter();
        cause.code().starts_with(prefix) && !rules.any(|rule| rule.cause == *cause)
    });
    if rules.is_empty() && of_account.is_empty() {
        let known = Cause::ALL.iter().map(|cause| cause.code());
        let groups = known.clone().filter_map(|code| code.split('.').next());
        let hint = match report::nearest(prefix, known.chain(groups)) {
            Some(near) => say!("是不是 `{near}`？", "did you mean `{near}`?"),
            None => say!(
                "`scopeagent rules` 列出所有规则",
                "`scopeagent rules` lists them all"
            ),
        };
        return Err(
            error!(Usage: "没有以 `{prefix}` 开头的规则", "no rule starts with `{prefix}`")
                .hint(hint),
        );
    }
    let mut values: Vec<Value> = rules.iter().map(|r| as_json(r, &settings)).collect();
    values.extend(of_account.iter().map(|cause| {
        json!({
            "cause": cause.code(), "what": found_in_account(*cause),
            "needs": [], "helps": [], "thresholds": [], "counter_evidence": [],
        })
    }));
    super::show(terminal, args.format, &values, || {
        let texts = rules.iter().map(|r| as_text(r, &settings, language));
        let of_account = of_account.iter().map(|cause| {
            let what = found_in_account(*cause);
            titled(*cause, what.pick(language)).join("\n") + "\n\n"
        });
        texts.chain(of_account).collect()
    })?;
    Ok(Exit::Success)
}

/// The purpose of a cause without a rule.
fn found_in_account(cause: Cause) -> Text {
    text!(
        "{cause}：时间账目中这一类的时间，没有规则能说明，且足够多",
        "{cause}: enough time of this kind in the time account that no rule claims",
        cause = cause.title(),
    )
}

fn titled(cause: Cause, what: &str) -> Vec<String> {
    let bold = anstyle::Style::new().bold();
    let mut lines = vec![format!("{bold}{cause}{bold:#}")];
    lines.extend(wrap(what, stdout_width(), "  ", "  "));
    lines
}

fn as_text(about: &Rule, settings: &Settings, language: Language) -> String {
    let columns = stdout_width();
    let mut lines = titled(about.cause, about.what.pick(language));
    let codes = |list: &[job::info::Information]| {
        list.iter().map(|i| i.code()).collect::<Vec<_>>().join(", ")
    };
    lines.push(format!(
        "  {}{}",
        language.select("需要：", "needs: "),
        codes(about.needs)
    ));
    if !about.helps.is_empty() {
        lines.push(format!(
            "  {}{}",
            language.select("有助于判断：", "helped by: "),
            codes(about.helps)
        ));
    }
    for threshold in about.thresholds {
        let value = settings.get(threshold);
        let (name, unit, default) = (threshold.name, threshold.unit, threshold.default);
        let changed = say!("（默认 {default}）", " (default {default})");
        let changed = Some(changed).filter(|_| value != default);
        let changed = changed.unwrap_or_default();
        lines.push(format!("  {name} = {value} {unit}{changed}"));
        let reason = threshold.reason.pick(language);
        let reason = format!("{reason} [{}]", threshold.source);
        lines.extend(wrap(&reason, columns, "      ", "      "));
    }
    for clears in about.counter_evidence {
        lines.extend(wrap(
            clears.pick(language),
            columns,
            language.select("  排除条件：", "  cleared if: "),
            "      ",
        ));
    }
    lines.join("\n") + "\n\n"
}

fn as_json(about: &Rule, settings: &Settings) -> Value {
    let both = |text: &StaticText| json!({ "zh": text.zh, "en": text.en });
    let thresholds = about.thresholds.iter().map(|t| {
        json!({
            "name": t.name, "value": settings.get(t), "default": t.default, "unit": t.unit,
            "reason": both(&t.reason), "source": t.source,
        })
    });
    json!({
        "cause": about.cause.code(),
        "what": both(&about.what),
        "needs": about.needs,
        "helps": about.helps,
        "thresholds": thresholds.collect::<Vec<_>>(),
        "counter_evidence": about.counter_evidence.iter().map(both).collect::<Vec<_>>(),
    })
}
