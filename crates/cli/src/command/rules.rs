//! `scopeagent rules`: what each rule detects, what it needs, and its thresholds.

use diagnosis::{About, Settings};
use report::{Language, StaticText};
use serde_json::{Value, json};

use crate::args::{Format, Rules};
use crate::config::Config;
use crate::exit::Exit;
use crate::render::layout::{stdout_width, wrap};
use crate::terminal::Terminal;
use server::Result;

/// Runs the command.
pub(crate) fn run(args: &Rules, config: &Config, terminal: &Terminal) -> Result<Exit> {
    let settings = crate::session::thresholds(config)?;
    let language = args.lang.or(config.language).unwrap_or(Language::En);
    let wanted = |about: &&About| {
        args.cause
            .as_deref()
            .is_none_or(|c| about.cause.code().starts_with(c))
    };
    let rules = diagnosis::rules()
        .iter()
        .map(|rule| rule.about())
        .filter(wanted);
    match args.format {
        Format::Json => terminal.print(&super::json(
            &rules.map(|r| as_json(r, &settings)).collect::<Vec<_>>(),
        )?)?,
        Format::Text => terminal.print(
            &rules
                .map(|r| as_text(r, &settings, language))
                .collect::<String>(),
        )?,
    }
    Ok(Exit::Success)
}

fn as_text(about: &About, settings: &Settings, language: Language) -> String {
    let pick = |text: StaticText| match language {
        Language::Zh => text.zh,
        Language::En => text.en,
    };
    let columns = stdout_width();
    let bold = anstyle::Style::new().bold();
    let mut lines = vec![format!("{bold}{}{bold:#}", about.cause)];
    lines.extend(wrap(pick(about.what), columns, "  ", "  "));
    let codes = |list: &[job::info::Information]| {
        list.iter().map(|i| i.code()).collect::<Vec<_>>().join(", ")
    };
    lines.push(format!("  needs: {}", codes(about.needs)));
    if !about.helps.is_empty() {
        lines.push(format!("  helped by: {}", codes(about.helps)));
    }
    for threshold in about.thresholds {
        let value = settings.get(threshold);
        let changed = if value == threshold.default {
            String::new()
        } else {
            format!(" (default {})", threshold.default)
        };
        lines.push(format!(
            "  {} = {value} {}{changed}",
            threshold.name, threshold.unit
        ));
        let reason = match language {
            Language::Zh => threshold.reason_zh,
            Language::En => threshold.reason_en,
        };
        lines.extend(wrap(
            &format!("{reason} [{}]", threshold.source),
            columns,
            "      ",
            "      ",
        ));
    }
    for clears in about.counter_evidence {
        lines.extend(wrap(pick(*clears), columns, "  cleared if: ", "      "));
    }
    lines.join("\n") + "\n\n"
}

fn as_json(about: &About, settings: &Settings) -> Value {
    let thresholds = about.thresholds.iter().map(|t| {
        json!({
            "name": t.name, "value": settings.get(t), "default": t.default, "unit": t.unit,
            "reason": { "zh": t.reason_zh, "en": t.reason_en }, "source": t.source,
        })
    });
    let both = |text: &StaticText| json!({ "zh": text.zh, "en": text.en });
    json!({
        "cause": about.cause.code(),
        "what": both(&about.what),
        "needs": about.needs,
        "helps": about.helps,
        "thresholds": thresholds.collect::<Vec<_>>(),
        "counter_evidence": about.counter_evidence.iter().map(both).collect::<Vec<_>>(),
    })
}
