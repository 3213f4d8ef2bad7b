//! Checks of one case: its sections, its origin, open places.

use super::{FILL_IN, SECTIONS};

/// Origins that a case may have.
const ORIGINS: [&str; 3] = ["real", "simulated", "run"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// From 1.
    pub line: usize,
    /// Short name of the check.
    pub code: &'static str,
    pub message: String,
}

/// Everything to fix in the text of a case, by line.
pub fn check(text: &str) -> Vec<Fault> {
    let mut faults = Vec::new();
    origin(text, &mut faults);
    sections(text, &mut faults);
    for (index, line) in text.lines().enumerate() {
        if line.contains(FILL_IN) {
            faults.push(Fault {
                line: index + 1,
                code: "fill-in",
                message: "to be filled in by someone who knows the fix".to_owned(),
            });
        }
    }
    faults.sort_by_key(|f| f.line);
    faults
}

fn origin(text: &str, faults: &mut Vec<Fault>) {
    let front = (1..).zip(text.lines()).skip(1);
    let mut front = front.take_while(|(_, line)| *line != "---");
    let origin =
        front.find_map(|(number, line)| Some((number, line.strip_prefix("origin:")?.trim())));
    let fault = match origin {
        None => Some((1, "`origin` is missing".to_owned())),
        Some((line, origin)) if !ORIGINS.contains(&origin) => {
            Some((line, format!("origin `{origin}`")))
        }
        Some(_) => None,
    };
    if let Some((line, what)) = fault {
        faults.push(Fault {
            line,
            code: "origin",
            message: format!("{what}; expected one of {}", ORIGINS.join(", ")),
        });
    }
}

/// Every section exactly once, in either language, and not empty.
fn sections(text: &str, faults: &mut Vec<Fault>) {
    let lines: Vec<&str> = text.lines().collect();
    let mut fault = |line, code, what: String| {
        let message = format!("the section {what}");
        faults.push(Fault {
            line,
            code,
            message,
        });
    };
    for (zh, en) in SECTIONS {
        let is_heading = |line: &&str| {
            let title = line.strip_prefix("## ").map(str::trim);
            title == Some(zh) || title == Some(en)
        };
        let Some(at) = lines.iter().position(is_heading) else {
            fault(1, "missing-section", format!("`{en}` (`{zh}`) is missing"));
            continue;
        };
        let mut body = lines[at + 1..].iter().take_while(|l| !l.starts_with("## "));
        if body.all(|l| l.trim().is_empty()) {
            fault(at + 1, "empty-section", format!("`{en}` (`{zh}`) is empty"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &str = "---\nid: a\norigin: run\n---\n\n# A\n\n## Job shape\n\nx\n\n## Symptoms\n\nx\n\n## Diagnosis\n\nx\n\n## What was changed\n\nx\n\n## Result\n\nx\n\n## Accepted suggestions\n\n- x\n";

    #[test]
    fn a_whole_case_has_no_fault() {
        assert_eq!(check(WHOLE), []);
    }

    #[test]
    fn faults_have_their_lines() {
        let text = WHOLE
            .replace("origin: run", "origin: dream")
            .replace("## Symptoms\n\nx\n\n", "")
            .replace(
                "## Result\n\nx",
                "## Result\n\nFILL IN: how long it runs now",
            )
            .replace("## Diagnosis\n\nx\n", "## Diagnosis\n");
        let seen: Vec<(usize, &str)> = check(&text).iter().map(|f| (f.line, f.code)).collect();
        assert_eq!(
            seen,
            [
                (1, "missing-section"),
                (3, "origin"),
                (12, "empty-section"),
                (20, "fill-in")
            ]
        );
    }
}
