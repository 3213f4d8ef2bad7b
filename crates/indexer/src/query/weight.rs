//! Weights of a query's terms, by how specific they are.

use std::collections::HashMap;

use crate::analyze;
use crate::model::Part;

/// Weights relative to an ordinary word. Chosen on the tuning judgments; `eval --ablate` measures each.
const NUMBER: f32 = 0.2;
const CODE: f32 = 0.5;
const KEYWORD: f32 = 0.3;
const PRODUCT: f32 = 0.3;

/// Units, which go with numbers.
const UNITS: &str = "ms s sec second min minut m h hour day kb mb gb tb gib mib byte percent million billion k \
                     秒 分 分钟 小时 天 行 万 亿 百 千 毫秒";

/// Words of SQL and of declarations, as stems: nearly every script has them, with any kind of problem.
const KEYWORDS: &str = "select insert using inner int string long double float datetim bool byte var new produc \
                        class public static void return valu tabl";

/// The terms of `text`, each once, with the most that any occurrence weighs. `products` are terms of the names of engines, which nearly every
/// page about the engine has.
pub(super) fn terms(text: &str, products: &[String], without: &[Part]) -> Vec<(String, f32)> {
    let mut out: Vec<(String, f32)> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for (piece, is_code) in pieces(text) {
        let factor = match is_code && !without.contains(&Part::Code) {
            true => CODE,
            false => 1.0,
        };
        analyze::for_each_term(piece, |term| {
            let weight = factor * weight(term, products, without);
            match places.get(term) {
                Some(&at) => out[at].1 = out[at].1.max(weight),
                None => {
                    places.insert(term.to_owned(), out.len());
                    out.push((term.to_owned(), weight));
                }
            }
        });
    }
    out
}

fn weight(term: &str, products: &[String], without: &[Part]) -> f32 {
    let among = |list: &str| list.split_whitespace().any(|word| word == term);
    let (part, weight) = if term.starts_with(|c: char| c.is_ascii_digit()) || among(UNITS) {
        (Part::Numbers, NUMBER)
    } else if among(KEYWORDS) {
        (Part::Code, KEYWORD)
    } else if products.iter().any(|product| product == term) {
        (Part::Engine, PRODUCT)
    } else {
        return 1.0;
    };
    if without.contains(&part) { 1.0 } else { weight }
}

/// Alternating prose and code. Fenced text and the names of a script (`@clicks`) are code.
fn pieces(text: &str) -> Vec<(&str, bool)> {
    let mut out = Vec::new();
    for (number, part) in text.split("```").enumerate() {
        if number % 2 == 1 {
            out.push((part, true));
            continue;
        }
        let mut rest = part;
        while let Some(at) = rest.find('@') {
            let is_name = |c: char| c.is_alphanumeric() && !analyze::is_cjk(c) || c == '_';
            let name = &rest[at + 1..];
            let end = name.find(|c| !is_name(c)).unwrap_or(name.len());
            out.push((&rest[..at], false));
            out.push((&name[..end], true));
            rest = &name[end..];
        }
        out.push((rest, false));
    }
    out
}
