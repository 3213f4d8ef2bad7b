//! Parses the plan of an execution (`sparkPlanInfo`) without recursion, because plans are deeply
//! nested.

use std::collections::BTreeMap;

use super::event::{Metric, Str};
use super::lists::{List, Map};
use crate::text::head;

/// Maximum number of nodes in a plan.
const MAX_NODES: usize = 20_000;
/// Characters kept of a node's text: scans list every column.
const MAX_TEXT: usize = 2_000;
/// Metadata and metrics kept of a node, and bytes of their texts.
const MAX_METADATA: usize = 50;
const MAX_VALUE: usize = 20_000;
const MAX_METRICS: usize = 200;
const MAX_NAME: usize = 200;

/// A node in the log.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct RawNode {
    pub(super) name: String,
    pub(super) text: String,
    pub(super) parent: Option<usize>,
    pub(super) metadata: BTreeMap<String, String>,
    /// Name, accumulator and unit of each metric.
    pub(super) metrics: Vec<(String, u64, String)>,
}

/// The nodes of the plan in an event, parents before their children; empty if it has none.
pub(super) fn plan(line: &str) -> Vec<RawNode> {
    const KEY: &str = "\"sparkPlanInfo\":";
    let Some(at) = line.find(KEY) else {
        return Vec::new();
    };
    let mut scan = Scan(&line[at + KEY.len()..]);
    let mut nodes: Vec<RawNode> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    while let Some(byte) = scan.next_byte() {
        match byte {
            b'{' if nodes.len() < MAX_NODES => {
                nodes.push(RawNode {
                    parent: open.last().copied(),
                    ..RawNode::default()
                });
                open.push(nodes.len() - 1);
            }
            b'}' => {
                open.pop();
                if open.is_empty() {
                    break;
                }
            }
            b'"' => {
                let Some((key, node)) = scan.key().zip(open.last()) else {
                    break;
                };
                if key != "children" && take(&mut nodes[*node], key, &mut scan).is_none() {
                    break;
                }
            }
            b'[' | b']' | b',' => {}
            _ => break,
        }
    }
    nodes
}

/// Takes the value of a key into a node.
fn take(node: &mut RawNode, key: &str, scan: &mut Scan<'_>) -> Option<()> {
    let value = scan.value()?;
    match key {
        "nodeName" => node.name = text(value),
        "simpleString" => node.text = text(value),
        "metadata" => {
            let all: Map<Str<'_>, Str<'_>> = serde_json::from_str(value).unwrap_or_default();
            let all = all.0.into_iter().take(MAX_METADATA);
            let kept = |text: &str| head(text, MAX_VALUE).to_owned();
            node.metadata = all.map(|(k, v)| (kept(&k.0), kept(&v.0))).collect();
        }
        "metrics" => {
            let all: List<Metric<'_>> = serde_json::from_str(value).unwrap_or_default();
            let kept = |text: &str| head(text, MAX_NAME).to_owned();
            let all = all.iter().take(MAX_METRICS);
            let all = all.map(|m| (kept(&m.name.0), m.id.or_zero(), kept(&m.kind.0)));
            node.metrics = all.collect();
        }
        _ => {}
    }
    Some(())
}

fn text(json: &str) -> String {
    let text = serde_json::from_str::<Str<'_>>(json).unwrap_or_default().0;
    head(text.trim(), MAX_TEXT).to_owned()
}

/// The rest of the JSON.
struct Scan<'a>(&'a str);

impl<'a> Scan<'a> {
    fn next_byte(&mut self) -> Option<u8> {
        self.0 = self.0.trim_start();
        let byte = *self.0.as_bytes().first()?;
        self.0 = self.0.get(1..)?;
        Some(byte)
    }

    /// The key that begins here, after its quote, and its colon.
    fn key(&mut self) -> Option<&'a str> {
        let (key, rest) = self.0.split_once('"')?;
        self.0 = rest.trim_start().strip_prefix(':')?;
        Some(key)
    }

    /// The JSON of the value that begins here.
    fn value(&mut self) -> Option<&'a str> {
        let text = self.0.trim_start();
        let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
        for (at, byte) in text.bytes().enumerate() {
            match byte {
                _ if escaped => escaped = false,
                b'\\' if in_string => escaped = true,
                b'"' => in_string = !in_string,
                _ if in_string => {}
                b'{' | b'[' => depth += 1,
                b'}' | b']' if depth > 0 => depth -= 1,
                b',' | b'}' | b']' if depth == 0 => {
                    let (value, rest) = text.split_at(at);
                    self.0 = rest;
                    return Some(value);
                }
                _ => {}
            }
        }
        None
    }
}
