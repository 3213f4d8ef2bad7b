//! Recognizes quantities that say how much a change would save.

use super::lexicon::Words;
use super::mention::Claim;
use super::quantity::Unit;

/// Things that a share of rows or a multiple is of.
const OF_ROWS: Words = "row|data|行|数据|value|time the|times the";

/// The time that a saving is a share of.
const OF_RUN: Words = "of the run|of its run|of the total time|占运行时间|占总时间";

/// Whether a quantity states the saving of a change.
pub(crate) fn is_gain(claim: Claim<'_>) -> bool {
    let Claim {
        text,
        clause,
        phrase,
        quantity,
    } = claim;
    if !matches!(quantity.unit, Unit::Seconds | Unit::Ratio) || quantity.bound.is_some() {
        return false;
    }
    let lead = text[phrase.span.start..quantity.span.start].trim_end();
    let base = behind(&text[quantity.end..])
        .replace("运行", "")
        .replace("执行", "");
    let is_of_rows = OF_ROWS.split('|').any(|word| base.contains(word));
    let is_multiple = quantity.unit == Unit::Ratio && !quantity.is_percent;
    if is_of_rows || is_multiple {
        return false;
    }
    let is_of_run = OF_RUN.split('|').any(|words| base.contains(words))
        || lead.ends_with("总时间的")
        || lead.ends_with("运行时间的");
    let is_said = phrase.mood.is_gain || phrase.mood.is_loss && !clause.concepts.is_special();
    is_said
        || is_of_run && !phrase.concepts.is_special()
        || followed_by_share_of_run(&text[quantity.end..])
}

/// `(19 % of the run)` behind an amount of time.
fn followed_by_share_of_run(rest: &str) -> bool {
    let rest = rest.trim_start();
    let inside = rest.strip_prefix(['(', '（']).unwrap_or_default();
    let inside = inside.split([')', '）']).next().unwrap_or_default();
    OF_RUN.split('|').any(|words| inside.contains(words))
}

/// The words behind a share: the thing it is a share of.
fn behind(rest: &str) -> String {
    let end = rest.find([',', '，', ';', '；', '.', '。', '(', '（', ')', '）', '[']);
    let rest = &rest[..end.unwrap_or(rest.len())];
    report::format::cut(rest, 24).to_lowercase()
}
