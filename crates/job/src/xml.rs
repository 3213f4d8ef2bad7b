//! A bounded, forgiving walk over XML: no entity is expanded, depth is limited, and a fault ends
//! the walk with its line and keeps everything before it.

use std::borrow::Cow;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use crate::problem::Problem;
use crate::text::line_at;

/// Deeper nesting is refused. Optimizer trees are the deepest real files, with a few dozen levels;
/// this leaves room for plans of thousands of operators that are chained 10 deep on average.
pub(crate) const MAX_DEPTH: usize = 1_000;

/// Nodes and attributes of one [`Node`] tree. Only small files are read as a tree.
const MAX_NODES: usize = 200_000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    /// 1-based line.
    pub(crate) line: usize,
    pub(crate) problem: Problem,
}

/// One step of the walk. An empty element gives `Open` and `Close`.
pub(crate) enum Token<'a> {
    Open(Tag<'a>),
    Close,
    /// Text or CDATA, entities other than the predefined ones left as written.
    Text(Cow<'a, str>),
    End,
}

pub(crate) struct Tag<'a>(BytesStart<'a>);

impl Tag<'_> {
    /// Element name without namespace prefix.
    pub(crate) fn name(&self) -> &str {
        self.0.local_name().into_inner()
    }

    /// Attributes in document order; malformed ones are left out.
    pub(crate) fn attributes(&self) -> impl Iterator<Item = (&str, Cow<'_, str>)> {
        Attributes {
            rest: self.attributes_written(),
        }
    }

    /// The text between the name and the end of the tag.
    pub(crate) fn attributes_written(&self) -> &str {
        self.0.attributes_raw()
    }

    pub(crate) fn get(&self, name: &str) -> Option<String> {
        let found = self.attributes().find(|(n, _)| *n == name);
        found.map(|(_, value)| value.into_owned())
    }

    /// The first attribute of one of these names.
    pub(crate) fn get_any(&self, names: &[&str]) -> Option<String> {
        names.iter().find_map(|name| self.get(name))
    }
}

/// Attributes of a tag as written. Counters have twenty per tag, and quick-xml's own iterator
/// takes more time for its checks than the rest of the reader.
pub(crate) struct Attributes<'a> {
    pub(crate) rest: &'a str,
}

impl<'a> Iterator for Attributes<'a> {
    type Item = (&'a str, Cow<'a, str>);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let text = self.rest.trim_ascii_start();
            let bytes = text.as_bytes();
            let end = bytes
                .iter()
                .position(|b| *b == b'=' || b.is_ascii_whitespace())?;
            let value = text[end..]
                .trim_ascii_start()
                .strip_prefix('=')
                .map(str::trim_ascii_start);
            let quote = value
                .and_then(|v| v.bytes().next())
                .filter(|b| matches!(b, b'"' | b'\''));
            let (Some(value), Some(quote)) = (value, quote) else {
                // a name without a value: continue with the next attribute
                self.rest = value.unwrap_or(&text[end..]);
                if self.rest.starts_with(|c: char| !c.is_ascii_whitespace()) {
                    let skip = self.rest.find(|c: char| c.is_ascii_whitespace())?;
                    self.rest = &self.rest[skip..];
                }
                continue;
            };
            let inner = &value[1..];
            let close = memchr::memchr(quote, inner.as_bytes())?;
            self.rest = &inner[close + 1..];
            let name = text[..end].rsplit(':').next().unwrap_or_default();
            return Some((name, unescape(Cow::Borrowed(&inner[..close]))));
        }
    }
}

/// Text with the predefined entities and character references resolved. Other entities stay as
/// written, so no entity is ever expanded.
fn unescape(text: Cow<'_, str>) -> Cow<'_, str> {
    if memchr::memchr(b'&', text.as_bytes()).is_none() {
        return text;
    }
    match quick_xml::escape::unescape(&text) {
        Ok(plain) => Cow::Owned(plain.into_owned()),
        Err(_) => text,
    }
}

pub(crate) struct Xml<'a> {
    reader: Reader<&'a [u8]>,
    text: &'a str,
    depth: usize,
    /// Number of root elements so far.
    roots: usize,
    /// The last tag was an empty element; its end has not been returned yet.
    at_empty: bool,
}

impl<'a> Xml<'a> {
    pub(crate) fn new(text: &'a str) -> Xml<'a> {
        Xml {
            reader: Reader::from_str(text),
            text,
            depth: 0,
            roots: 0,
            at_empty: false,
        }
    }

    pub(crate) fn depth(&self) -> usize {
        self.depth
    }

    /// Current position, in bytes from the start of the text.
    pub(crate) fn position(&self) -> usize {
        self.reader.buffer_position() as usize
    }

    /// Current 1-based line.
    pub(crate) fn line(&self) -> usize {
        line_at(self.text, self.position())
    }

    fn fault(&self, problem: Problem) -> Fault {
        Fault {
            line: self.line(),
            problem,
        }
    }

    pub(crate) fn next(&mut self) -> Result<Token<'a>, Fault> {
        if std::mem::take(&mut self.at_empty) {
            self.depth -= 1;
            return Ok(Token::Close);
        }
        loop {
            match self.reader.read_event() {
                Ok(Event::Start(tag)) => return self.open(tag),
                Ok(Event::Empty(tag)) => {
                    self.at_empty = true;
                    return self.open(tag);
                }
                Ok(Event::End(_)) => {
                    self.depth = self.depth.saturating_sub(1);
                    return Ok(Token::Close);
                }
                Ok(Event::Text(text)) if self.depth > 0 => {
                    return Ok(Token::Text(unescape(text.into_inner())));
                }
                Ok(Event::CData(text)) => return Ok(Token::Text(text.into_inner())),
                Ok(Event::GeneralRef(name)) if self.depth > 0 => {
                    let written = format!("&{};", name.into_inner());
                    return Ok(Token::Text(unescape(Cow::Owned(written))));
                }
                Ok(Event::Eof) if self.depth > 0 => {
                    let open = self.depth;
                    return Err(self.fault(Problem::StillOpen(open)));
                }
                Ok(Event::Eof) if self.roots == 0 => return Err(self.fault(Problem::NoElement)),
                Ok(Event::Eof) => return Ok(Token::End),
                Ok(_) => {}
                Err(error) => {
                    let at = self.reader.error_position() as usize;
                    return Err(Fault {
                        line: line_at(self.text, at),
                        problem: Problem::Malformed("XML", error.to_string()),
                    });
                }
            }
        }
    }

    fn open(&mut self, tag: BytesStart<'a>) -> Result<Token<'a>, Fault> {
        self.roots += usize::from(self.depth == 0);
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.fault(Problem::TooDeep(MAX_DEPTH)));
        }
        Ok(Token::Open(Tag(tag)))
    }
}

/// Walks over a whole document; returns the fault that ended it early, if any.
pub(crate) fn walk<'a>(text: &'a str, mut step: impl FnMut(Token<'a>)) -> Option<Fault> {
    let mut xml = Xml::new(text);
    loop {
        match xml.next() {
            Ok(Token::End) => return None,
            Ok(token) => step(token),
            Err(fault) => return Some(fault),
        }
    }
}

/// Walks over the start tags of a document.
pub(crate) fn each_tag<'a>(text: &'a str, mut step: impl FnMut(Tag<'a>)) -> Option<Fault> {
    walk(text, |token| {
        if let Token::Open(tag) = token {
            step(tag);
        }
    })
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Node {
    pub(crate) name: String,
    pub(crate) attributes: Vec<(String, String)>,
    /// Text directly in the element, trimmed.
    pub(crate) text: String,
    pub(crate) children: Vec<Node>,
}

impl Node {
    pub(crate) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Node> {
        self.children
            .iter()
            .filter(move |c| c.name.eq_ignore_ascii_case(name))
    }

    pub(crate) fn child(&self, name: &str) -> Option<&Node> {
        let mut children = self.children.iter();
        children.find(|c| c.name.eq_ignore_ascii_case(name))
    }

    /// Value of an attribute, or the text of a child element, of that name (both forms occur).
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        let mut attributes = self.attributes.iter();
        let own = attributes.find(|(n, _)| n.eq_ignore_ascii_case(name));
        let own = own.map(|(_, value)| value.as_str());
        let value = own.or_else(|| self.child(name).map(|c| c.text.as_str()));
        value.filter(|value| !value.is_empty())
    }

    /// The node itself and all below it, in document order.
    pub(crate) fn descendants(&self) -> Vec<&Node> {
        let (mut out, mut stack) = (Vec::new(), vec![self]);
        while let Some(node) = stack.pop() {
            out.push(node);
            stack.extend(node.children.iter().rev());
        }
        out
    }
}

/// Reads a small document as a tree. With a fault, the tree holds everything before it.
/// Several roots (a log of elements) are children of a nameless node.
pub(crate) fn tree(text: &str) -> (Node, Option<Fault>) {
    let mut xml = Xml::new(text);
    let (mut open, mut nodes) = (vec![Node::default()], 0);
    let fault = loop {
        match xml.next() {
            Ok(Token::Open(tag)) => {
                nodes += 1;
                if nodes > MAX_NODES {
                    break Some(xml.fault(Problem::TooMany(MAX_NODES)));
                }
                let attributes = tag.attributes().take(MAX_NODES - nodes);
                let owned = attributes.map(|(name, v)| (name.to_owned(), v.into_owned()));
                let attributes: Vec<_> = owned.collect();
                nodes += attributes.len();
                open.push(Node {
                    name: tag.name().to_owned(),
                    attributes,
                    ..Node::default()
                });
            }
            Ok(Token::Close) => close(&mut open),
            Ok(Token::Text(piece)) => {
                if let Some(node) = open.last_mut() {
                    node.text.push_str(&piece);
                }
            }
            Ok(Token::End) => break None,
            Err(fault) => break Some(fault),
        }
    };
    while open.len() > 1 {
        close(&mut open);
    }
    (open.pop().unwrap_or_default(), fault)
}

fn close(open: &mut Vec<Node>) {
    let Some(mut node) = open.pop() else { return };
    if node.text.trim().len() != node.text.len() {
        node.text = node.text.trim().to_owned();
    }
    match open.last_mut() {
        Some(parent) => parent.children.push(node),
        None => open.push(node),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walk(text: &str) -> (String, Option<Fault>) {
        let (mut xml, mut out) = (Xml::new(text), String::new());
        loop {
            match xml.next() {
                Ok(Token::Open(tag)) => {
                    out += &format!("<{}", tag.name());
                    for (name, value) in tag.attributes() {
                        out += &format!(" {name}={value}");
                    }
                    out += ">";
                }
                Ok(Token::Close) => out += "/",
                Ok(Token::Text(text)) => out += &text,
                Ok(Token::End) => return (out, None),
                Err(fault) => return (out, Some(fault)),
            }
        }
    }

    #[test]
    fn entities_are_resolved_but_never_expanded() {
        let bomb = "<!DOCTYPE a [<!ENTITY x \"xx\"><!ENTITY y \"&x;&x;\">]><a b='&lt;&y;'>&amp;&y;&#65;</a>";
        let (out, fault) = walk(bomb);
        assert_eq!(out, "<a b=&lt;&y;>&&y;A/");
        assert_eq!(fault, None);
    }

    #[test]
    fn attributes_of_any_form() {
        let (out, _) = walk("<a b = 'c' x:d=\"e'f\" g h=1 i='&gt;' \u{e9}='j' k='l'></a>");
        assert_eq!(out, "<a b=c d=e'f i=> \u{e9}=j k=l>/");
    }

    #[test]
    fn a_cut_document_gives_what_it_has() {
        let (out, fault) = walk("<a>\n<b c=\"1\"/>\n<d e=\"");
        assert_eq!(out, "<a>\n<b c=1>/\n");
        assert_eq!(fault.map(|f| f.line), Some(3));
        let (out, fault) = walk("<a>\n<b>");
        assert_eq!(out, "<a>\n<b>");
        assert_eq!(fault.map(|f| f.problem), Some(Problem::StillOpen(2)));
    }

    #[test]
    fn deep_nesting_is_refused() {
        let (_, fault) = walk(&"<a>".repeat(100_000));
        assert!(fault.is_some_and(|f| f.problem == Problem::TooDeep(MAX_DEPTH)));
        let (node, fault) = tree(&"<a>".repeat(100_000));
        assert!(fault.is_some());
        assert_eq!(node.descendants().len(), MAX_DEPTH + 1);
    }

    #[test]
    fn a_tree_takes_attributes_and_children_alike() {
        let (root, fault) = tree("<W><X id='1'><message> m </message></X></W>");
        assert_eq!(fault, None);
        let x = root.child("w").and_then(|w| w.child("X"));
        let x = x.expect("X is there");
        assert_eq!(x.field("id"), Some("1"));
        assert_eq!(x.field("Message"), Some("m"));
        assert_eq!(x.field("no"), None);
    }
}
