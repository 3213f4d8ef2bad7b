//! Places in XML: `SV3_Combine/Sort[@opId=5]/@rowCount`, from any depth. A step is the name of an element or of what it is about.

use crate::files::{Readings, of_text};

struct Element {
    name: String,
    attributes: Vec<(String, String)>,
    text: String,
    parent: Option<usize>,
}

pub(crate) fn readings(text: &str, locator: &str) -> Readings {
    let elements = elements(text);
    if let Some(stage) = locator.strip_suffix("/operators that spill") {
        return vec![spilling(&elements, stage)];
    }
    let mut at: Vec<Option<usize>> = vec![None];
    let mut values: Vec<(String, String)> = Vec::new();
    let steps: Vec<&str> = locator.split('/').collect();
    for (n, step) in steps.iter().enumerate() {
        if let Some(attribute) = step.strip_prefix('@') {
            for element in at.iter().flatten() {
                let all = elements[*element].attributes.iter();
                values.extend(all.filter(|(name, _)| name == attribute).cloned());
            }
            break;
        }
        let below = (0..elements.len()).filter(|e| {
            fits(&elements[*e], step) && at.iter().any(|above| is_below(&elements, *e, *above))
        });
        at = below.map(Some).collect();
        if n + 1 == steps.len() {
            let within = |e: &usize| {
                at.iter()
                    .any(|a| *a == Some(*e) || a.is_some() && is_below(&elements, *e, *a))
            };
            for element in (0..elements.len()).filter(within).map(|e| &elements[e]) {
                values.push((element.name.clone(), element.text.clone()));
                values.extend(element.attributes.iter().cloned());
            }
        }
    }
    let number = |(name, text): &(String, String)| {
        let mut numbers = of_text(text);
        if name == "processingGroupInfo" {
            // Ranges of bytes from 0 without gaps, `{{0:10},{10:25}}`, stand for the sizes of the partitions.
            let ends: Vec<f64> = numbers
                .chunks(2)
                .filter_map(|r| r.get(1).copied())
                .collect();
            let starts = std::iter::once(0.0).chain(ends.iter().copied());
            numbers = ends
                .iter()
                .zip(starts)
                .map(|(end, start)| end - start)
                .collect();
        }
        if name.ends_with("Ticks") {
            numbers.extend(text.trim().parse::<f64>().map(|ticks| ticks / 1e7));
        }
        numbers
    };
    values.iter().map(number).collect()
}

/// Operators of a stage with a counter of spilling above 0.
fn spilling(elements: &[Element], stage: &str) -> Vec<f64> {
    let of_stage = (0..elements.len()).filter(|e| {
        let mut parents = std::iter::successors(Some(*e), |p| elements[*p].parent);
        parents.any(|p| elements[p].name == stage)
    });
    let spills = |(name, value): &(String, String)| {
        let is_counter = name.contains("Spill") && !name.starts_with("min");
        is_counter && value.parse::<f64>().is_ok_and(|n| n > 0.0)
    };
    let found = of_stage.filter(|e| elements[*e].attributes.iter().any(spills));
    found.map(|_| 1.0).collect()
}

fn is_below(elements: &[Element], element: usize, above: Option<usize>) -> bool {
    let Some(above) = above else { return true };
    let mut parents = std::iter::successors(elements[element].parent, |p| elements[*p].parent);
    parents.any(|parent| parent == above)
}

fn fits(element: &Element, step: &str) -> bool {
    let (name, condition) = match step.split_once('[') {
        Some((name, condition)) => (name, condition.trim_end_matches(']').strip_prefix('@')),
        None => (step, None),
    };
    let has = |key: Option<&str>, value: &str| {
        let mut all = element.attributes.iter();
        all.any(|(k, v)| key.is_none_or(|key| key == k) && v == value)
    };
    let is_named = element.name == name || has(None, name);
    let meets = condition.is_none_or(|condition| {
        let (key, value) = condition.split_once('=').unwrap_or((condition, ""));
        has(Some(key), value)
    });
    is_named && meets
}

fn elements(text: &str) -> Vec<Element> {
    let mut elements: Vec<Element> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    for part in text.split('<').skip(1) {
        let (tag, after) = part.split_once('>').unwrap_or((part, ""));
        if tag.starts_with(['?', '!']) {
            continue;
        }
        if tag.starts_with('/') {
            open.pop();
            continue;
        }
        let is_closed = tag.ends_with('/');
        let tag = tag.trim_end_matches('/');
        let end = tag.find(char::is_whitespace).unwrap_or(tag.len());
        let mut attributes = Vec::new();
        let mut rest = tag[end..].trim_start();
        while let Some((name, value)) = rest.split_once('=') {
            let value = value.trim_start();
            let Some(quote) = value.chars().next() else {
                break;
            };
            let (value, more) = value[1..].split_once(quote).unwrap_or((&value[1..], ""));
            attributes.push((name.trim().to_owned(), value.to_owned()));
            rest = more.trim_start();
        }
        elements.push(Element {
            name: tag[..end].to_owned(),
            attributes,
            text: after.trim().to_owned(),
            parent: open.last().copied(),
        });
        if !is_closed {
            open.push(elements.len() - 1);
        }
    }
    elements
}
