//! A model that can only copy: it looks for what it needs in the lines of its prompt.

use serde_json::json;
use testkit::llm::think::{agreeable, step_of};
use testkit::llm::{Recorded, Server, Turn};

use super::expected::Need;

/// Parts of a prompt that a model may quote. Script, code and documents are left out: their numbers are not
/// measurements of the job.
const QUOTED: [&str; 9] = [
    "job",
    "findings",
    "time",
    "cleared",
    "stages",
    "inputs",
    "suggestions",
    "memory",
    "answer",
];

/// Lines of the data of a prompt; a line below a heading has the heading before it.
pub(super) fn lines(prompt: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let (mut inside, mut heading) = (false, "");
    for line in prompt.lines() {
        let begun = line.strip_prefix("<<<data ");
        if let Some(kind) = begun.and_then(|rest| rest.split(' ').next()) {
            (inside, heading) = (QUOTED.contains(&kind), "");
        } else if line.starts_with(">>>data") {
            inside = false;
        } else if ["The program's verdict", "程序判断"]
            .iter()
            .any(|v| line.starts_with(v))
        {
            found.push(line.to_owned());
        } else if inside && line.starts_with("  ") {
            found.push(format!("{heading} {}", line.trim()));
        } else if inside && !line.is_empty() {
            heading = line;
            found.push(line.to_owned());
        }
    }
    found
}

/// The first line that meets each need.
fn copied(prompt: &str, needs: &[Need]) -> String {
    let lines = lines(prompt);
    let mut copied: Vec<&str> = Vec::new();
    for need in needs {
        let line = lines.iter().find(|line| need.is_met_by(line));
        copied.extend(
            line.map(String::as_str)
                .filter(|line| !copied.contains(line)),
        );
    }
    copied.join("\n")
}

/// A server of a model that answers the question by copying the needed lines.
pub(super) fn answering(needs: Vec<Need>) -> Server {
    Server::agreeing_unless(move |request: &Recorded| {
        (step_of(request) == "think5").then(|| {
            let mut conclusion = agreeable(request);
            let said = copied(&request.prompt(), &needs);
            conclusion["answer"] = json!({ "text": said, "evidence": [] });
            Turn::json(&conclusion)
        })
    })
}
