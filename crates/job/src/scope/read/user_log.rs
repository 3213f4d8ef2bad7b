//! `diagnostic.xml`: what user code logged, one `<Vertex>` element after the other without a root;
//! of several versions of a vertex the highest counts.

use std::collections::HashMap;

use super::{Input, truth};
use crate::model::{Job, VertexLog};
use crate::text::head;
use crate::xml::{Token, Xml};

/// Vertices kept, and lines of each: the rest is counted only.
const MAX_VERTICES: usize = 1_000;
const MAX_LINES: usize = 20;
const MAX_LINE: usize = 1_000;

pub(crate) fn read(input: &Input<'_>, job: &mut Job) {
    let mut xml = Xml::new(input.text);
    let (mut logs, mut place): (Vec<VertexLog>, HashMap<String, usize>) = Default::default();
    let (mut current, mut in_line): (Option<VertexLog>, bool) = (None, false);
    let fault = loop {
        match xml.next() {
            Ok(Token::Open(tag)) if tag.name() == "Vertex" => {
                current = Some(VertexLog {
                    vertex: tag.get("name").unwrap_or_default(),
                    version: tag.get("v").and_then(|v| v.parse().ok()).unwrap_or(0),
                    failed: tag.get("failed").is_some_and(|v| truth(&v)),
                    truncated: tag.get("truncated").is_some_and(|v| truth(&v)),
                    ..VertexLog::default()
                });
            }
            Ok(Token::Open(tag)) => {
                in_line = tag.name() == "l";
                if let Some(log) = current.as_mut().filter(|_| in_line) {
                    log.lines += 1;
                    if log.first_lines.len() < MAX_LINES {
                        log.first_lines.push(String::new());
                    }
                }
            }
            Ok(Token::Text(text)) => {
                if let Some(log) = current
                    .as_mut()
                    .filter(|l| in_line && l.lines as usize <= MAX_LINES)
                    && let Some(line) = log.first_lines.last_mut()
                {
                    line.push_str(head(&text, MAX_LINE.saturating_sub(line.len())));
                }
            }
            Ok(Token::Close) if xml.depth() == 0 => keep(current.take(), &mut logs, &mut place),
            Ok(Token::Close) => in_line = false,
            Ok(Token::End) => break None,
            Err(fault) => break Some(fault),
        }
    };
    keep(current.take(), &mut logs, &mut place);
    job.user_logs.extend(logs);
    job.fault(input.name, fault);
}

fn keep(log: Option<VertexLog>, logs: &mut Vec<VertexLog>, place: &mut HashMap<String, usize>) {
    let Some(log) = log else { return };
    match place.get(&log.vertex) {
        Some(at) if logs[*at].version <= log.version => logs[*at] = log,
        Some(_) => {}
        None if logs.len() < MAX_VERTICES => {
            place.insert(log.vertex.clone(), logs.len());
            logs.push(log);
        }
        None => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_version_counts() {
        let text = "<Vertex name=\"SV1[0][0]\" v=\"0\" guid=\"g\"><l>old</l></Vertex>\n\
            <Vertex name=\"SV1[0][0]\" v=\"1\" failed=\"true\"><l>a &amp; b</l><l>c</l></Vertex>\n<Vertex truncated=\"true\"/>";
        let mut job = Job::default();
        read(&Input::new("d", text), &mut job);
        assert_eq!(job.user_logs.len(), 2);
        assert_eq!(job.user_logs[0].first_lines, ["a & b", "c"]);
        assert!(job.user_logs[0].failed && job.user_logs[1].truncated);
        assert_eq!(job.diagnostics, []);
    }
}
