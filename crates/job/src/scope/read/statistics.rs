//! `__ScopeRuntimeStatistics__.xml`: the counters of every stage (form of a cluster job; modeled
//! on readers of such files, since none is public).
//!
//! A large file is read in parts concurrently. The start of a part is a guess; the part counts only
//! if the part before ends exactly there, between two stages.

use super::names::Names;
use super::{Input, StageIndex};
use crate::bounds::Quota;
use crate::counters::{CounterTree, Name};
use crate::model::Job;
use crate::problem::Problem;
use crate::xml::{Fault, Tag, Token, Xml};

/// A smaller file is read by one thread: more threads would cost as much as they save.
const MIN_PART: u64 = 1 << 20;

/// Reads the counters of every stage; each child of the root is one.
pub(crate) fn read(input: &Input<'_>, job: &mut Job) {
    let parts = super::parts_at_a_time(input.text.len() as u64, MIN_PART);
    read_parts(input, parts as usize, job);
}

fn read_parts(input: &Input<'_>, parts: usize, job: &mut Job) {
    let starts = starts(input.text, parts);
    let mut index = StageIndex::of(job, input.name);
    let room = job.room_for(Quota::Counters);
    for part in walk_all(input, &starts, room) {
        job.keeps(Quota::Counters, part.bytes, input.name);
        if part.full {
            job.left_out(Quota::Counters, room, input.name);
        }
        for tree in part.trees {
            if let Some(at) = index.at(job, &tree.stage) {
                job.stages[at].counters = Some(tree);
            }
        }
        for odd in part.odd.into_iter().take(MAX_ODD) {
            let problem = Problem::OutOfRange(odd.name, odd.value);
            job.note(input.name, Some(odd.place), &problem);
        }
        job.fault(input.name, part.fault);
    }
}

/// Offsets that look like the start of a stage, at about equal distances.
fn starts(text: &str, parts: usize) -> Vec<usize> {
    let start = |part: usize| {
        let from = text.len() / parts * part;
        memchr::memmem::find(&text.as_bytes()[from..], b"<SV").map(|at| from + at)
    };
    let mut starts: Vec<usize> = (1..parts).filter_map(start).collect();
    starts.dedup();
    starts
}

/// Nodes kept of one stage; real ones have at most some hundred.
const NODES_PER_STAGE: usize = 5_000;

/// Numbers out of range are reported one by one up to this many of a part.
const MAX_ODD: usize = 5;

struct Odd {
    place: String,
    name: String,
    value: String,
}

struct Part {
    trees: Vec<CounterTree>,
    /// Memory of the trees, and whether some were left out.
    bytes: usize,
    full: bool,
    odd: Vec<Odd>,
    fault: Option<Fault>,
    /// Whether it ends between two stages exactly at the start of the next part. If not, it contains
    /// the whole rest.
    meets_next: bool,
}

/// Walks through the file, from each start concurrently. Together the parts take up to `room` bytes.
fn walk_all(input: &Input<'_>, starts: &[usize], room: usize) -> Vec<Part> {
    let (Some(root), Some(first)) = (root(input.text), starts.first()) else {
        return vec![walk(Xml::new(input.text), input.name, None, room)];
    };
    let room = room / (starts.len() + 1);
    let mut parts = std::thread::scope(|scope| {
        let following: Vec<_> = starts
            .iter()
            .enumerate()
            .map(|(n, start)| {
                let (root, next) = (&root, starts.get(n + 1).copied());
                let xml = Xml::inside(input.text, *start, root);
                let part = move || walk(xml, input.name, next, room);
                scope.spawn(part)
            })
            .collect();
        let mut parts = vec![walk(Xml::new(input.text), input.name, Some(*first), room)];
        parts.extend(following.into_iter().map(|thread| match thread.join() {
            Ok(part) => part,
            Err(panic) => std::panic::resume_unwind(panic),
        }));
        parts
    });
    if let Some(last) = parts.iter().position(|part| !part.meets_next) {
        parts.truncate(last + 1);
    }
    parts
}

fn root(text: &str) -> Option<String> {
    let mut xml = Xml::new(text);
    loop {
        match xml.next() {
            Ok(Token::Open(tag)) => return Some(tag.full_name().to_owned()),
            Ok(Token::End) | Err(_) => return None,
            Ok(_) => {}
        }
    }
}

/// Walks to the start of the next part, or to the end.
fn walk(mut xml: Xml<'_>, file: &str, next: Option<usize>, room: usize) -> Part {
    let mut builder = Builder {
        trees: Vec::new(),
        current: None,
        open: Vec::new(),
        names: Names::within(room),
        odd: Vec::new(),
    };
    let mut meets_next = false;
    let fault = loop {
        if next.is_some_and(|next| xml.is_at_child(next)) {
            meets_next = true;
            break None;
        }
        match xml.next() {
            Ok(Token::Open(tag)) if xml.depth() == 2 => builder.open_stage(file, &tag),
            Ok(Token::Open(tag)) if xml.depth() > 2 => builder.open_node(&tag),
            Ok(Token::Close) if xml.depth() == 1 => builder.close_stage(),
            Ok(Token::Close) => builder.close_node(),
            Ok(Token::Open(_) | Token::Text(_)) => {}
            Ok(Token::End) => break None,
            Err(fault) => break Some(fault),
        }
    };
    builder.close_stage();
    Part {
        trees: builder.trees,
        bytes: room - builder.names.left(),
        full: builder.names.left() == 0,
        odd: builder.odd,
        fault,
        meets_next,
    }
}

struct Builder {
    trees: Vec<CounterTree>,
    current: Option<CounterTree>,
    /// Position of each open node, if it was kept.
    open: Vec<Option<usize>>,
    names: Names,
    odd: Vec<Odd>,
}

impl Builder {
    fn open_stage(&mut self, file: &str, tag: &Tag<'_>) {
        self.close_stage();
        let id = tag.get("id").filter(|id| id.starts_with("SV"));
        let Some(mut vertex) = self.names.node(tag) else {
            return;
        };
        vertex.name = Name::default();
        vertex.op_id = None;
        self.current = Some(CounterTree {
            stage: id.unwrap_or_else(|| tag.name().to_owned()),
            file: file.to_owned(),
            vertex,
            // stages of one job have about as many nodes
            nodes: Vec::with_capacity(self.trees.last().map_or(0, |t| t.nodes.len()).min(64)),
            ..CounterTree::default()
        });
        self.note_odd();
    }

    fn open_node(&mut self, tag: &Tag<'_>) {
        let Some(tree) = &mut self.current else {
            return;
        };
        let node = self
            .names
            .node(tag)
            .filter(|_| tree.nodes.len() < NODES_PER_STAGE);
        self.open.push(node.is_some().then_some(tree.nodes.len()));
        if let Some(mut node) = node {
            node.parent = self.open.iter().rev().skip(1).find_map(|at| *at);
            tree.nodes.push(node);
        }
        self.note_odd();
    }

    /// Names the place of numbers out of range in the tag that was read last.
    fn note_odd(&mut self) {
        let stage = self.current.as_ref().map_or("", |tree| &tree.stage);
        if self.odd.len() >= MAX_ODD {
            return;
        }
        for (node, name, value) in self.names.take_odd() {
            let place = match &*node {
                node if node == stage => format!("{stage}/@{name}"),
                node => format!("{stage}/{node}/@{name}"),
            };
            self.odd.push(Odd { place, name, value });
        }
    }

    fn close_node(&mut self) {
        self.open.pop();
    }

    /// Keeps the tree if it is a stage: it has a stage's name, or operators. A collector's note about
    /// itself has neither.
    fn close_stage(&mut self) {
        self.open.clear();
        let is_stage = |tree: &CounterTree| {
            let rest = tree.stage.strip_prefix("SV");
            let number = rest.and_then(|rest| rest.bytes().next());
            number.is_some_and(|b| b.is_ascii_digit()) || !tree.nodes.is_empty()
        };
        self.trees.extend(self.current.take().filter(is_stage));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_of_another_shape_are_read_as_well() {
        let text = "<A><SV1><Sort opId=\"1\" a=\"1\" b=\"2\"/><Sort a=\"3\" opId=\"2\" b=\"4\"/><Sort b=\"5\"/>\
                    <Sort  a=\"-6\"  c=\"1234567890123456\"/><Sort a=\"7\" b='8' c=\"\"/></SV1></A>";
        let mut job = Job::default();
        read(&Input::new("f.xml", text), &mut job);
        let tree = job.stages[0].counters.as_ref().expect("counters");
        let of = |at: usize| -> Vec<(&str, f64)> {
            let values = tree.nodes[at].values.iter();
            values.map(|(name, value)| (&**name, value)).collect()
        };
        assert_eq!(tree.nodes[1].op_id, Some(2));
        assert_eq!(of(0), vec![("a", 1.0), ("b", 2.0)]);
        assert_eq!(of(1), vec![("a", 3.0), ("b", 4.0)]);
        assert_eq!(of(2), vec![("b", 5.0)]);
        assert_eq!(of(3), vec![("a", -6.0), ("c", 1_234_567_890_123_456.0)]);
        assert_eq!(of(4), vec![("a", 7.0), ("b", 8.0)]);
        assert_eq!(tree.nodes[4].text("c"), Some(""));
    }

    #[test]
    fn nested_counters_and_their_places() {
        let text = "<AggregatedStats><SV1_Extract maxWorkingSetPeakSize='9'>\
                    <Output opId='4' rowCount='10' maxRowCount='1e1'><Sort opId='3' rowCount='bad'/></Output>\
                    <Time elapsedTime='7'/></SV1_Extract><Stage id='SV2_Reduce'/><CollectorInfo version='4'/></AggregatedStats>";
        let mut job = Job::default();
        read(&Input::new("f.xml", text), &mut job);
        assert_eq!(job.stages.len(), 2);
        let tree = job.stages[0].counters.as_ref().expect("counters");
        assert_eq!(tree.vertex.value("maxWorkingSetPeakSize"), Some(9.0));
        let output = tree.by_op_id(4).expect("output");
        assert_eq!(output.value("maxRowCount"), Some(10.0));
        let sort = tree.node("Sort").expect("a sort");
        assert_eq!((sort.value("rowCount"), sort.parent), (None, Some(0)));
        assert_eq!(sort.text("rowCount"), Some("bad"));
        assert_eq!(tree.node("Time").and_then(|n| n.parent), None);
        assert_eq!(job.stages[1].name, "SV2_Reduce");
    }

    /// The job read by `parts` threads, and the number of parts used.
    fn read_with(text: &str, parts: usize) -> (Job, usize) {
        let input = Input::new("f.xml", text);
        let mut job = Job::default();
        read_parts(&input, parts, &mut job);
        (
            job,
            walk_all(&input, &starts(text, parts), usize::MAX).len(),
        )
    }

    #[test]
    fn parts_give_the_same_as_the_whole() {
        let stage = |n: usize| {
            format!(" <SV{n}_X a='{n}'><Sort opId=\"1\" b=\"{n}\"/><Time c='1'/></SV{n}_X>\n")
        };
        let stages: String = (0..40).map(stage).collect();
        // these stages are inside a comment, a text, or too deep, so no part may begin there
        let hidden =
            format!("<!-- {stages} --> <SV77><Sort/><![CDATA[ {stages} ]]>{stages}</SV77>");
        let wrong = "</SV3_X>".to_owned();
        for (text, all_parts) in [
            (format!("<A>\n{stages}</A>"), true),
            (format!("<A>\n{stages}</A></A>"), true),
            (format!("<A>\n{stages}</B>"), true),
            (format!("<A>\n{stages}"), true),
            (format!("<A>\n{stages}</A>\n<B>{stages}</B>"), false),
            (format!("<A>{stages}{hidden}{stages}</A>"), false),
            (format!("<A>{stages}{wrong}{stages}</A>"), false),
            (format!("<A>{stages}<SV9 {stages}</A>"), false),
            (format!("<A><![CDATA[{stages}"), false),
            ("<SV1/>".to_owned(), false),
        ] {
            let (whole, one) = read_with(&text, 1);
            assert_eq!(one, 1);
            let mut most = 1;
            for parts in 2..9 {
                let (parted, used) = read_with(&text, parts);
                assert_eq!(parted.stages, whole.stages, "{parts}: {text}");
                assert_eq!(parted.diagnostics, whole.diagnostics, "{parts}: {text}");
                most = most.max(used);
            }
            assert!(most >= 8 || !all_parts, "{most}: {text}");
        }
    }
}
