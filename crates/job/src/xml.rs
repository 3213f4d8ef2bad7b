//! A bounded, forgiving walk over XML: no entity is expanded, depth is limited, and a fault ends
//! the walk with its line instead of losing what came before.

use std::borrow::Cow;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use crate::text::line_at;

/// Deeper nesting is refused. Optimizer trees are the deepest real files, with a few dozen levels;
/// this leaves room for plans of thousands of operators that are chained 10 deep on average.
pub(crate) const MAX_DEPTH: usize = 1_000;

/// Nodes of one [`Node`] tree. Only small files are read as a tree.
const MAX_NODES: usize = 200_000;

/// Where and why reading stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    /// 1-based line.
    pub(crate) line: usize,
    /// Lower-case fragment.
    pub(crate) message: String,
}

/// One step of the walk. An empty element gives `Open` and `Close`.
pub(crate) enum Token<'a> {
    /// A start tag.
    Open(Tag<'a>),
    /// An end tag.
    Close,
    /// Text or CDATA, entities other than the predefined ones left as written.
    Text(Cow<'a, str>),
    /// End of the document.
    End,
}

/// A start tag.
pub(crate) struct Tag<'a>(BytesStart<'a>);

impl Tag<'_> {
    /// Element name without namespace prefix.
    pub(crate) fn name(&self) -> &str {
        self.0.local_name().into_inner()
    }

    /// Attributes in order; malformed ones are left out.
    pub(crate) fn attributes(&self) -> impl Iterator<Item = (&str, Cow<'_, str>)> {
        Attributes {
            rest: self.attributes_written(),
        }
    }

    /// What stands between the name and the end of the tag.
    pub(crate) fn attributes_written(&self) -> &str {
        self.0.attributes_raw()
    }

    /// The attribute of that name.
    pub(crate) fn get(&self, name: &str) -> Option<String> {
        self.attributes()
            .find(|(n, _)| *n == name)
            .map(|(_, value)| value.into_owned())
    }

    /// The first attribute of one of these names.
    pub(crate) fn get_any(&self, names: &[&str]) -> Option<String> {
        names.iter().find_map(|name| self.get(name))
    }
}

/// Attributes of a tag as written. Counters have twenty to a tag, and quick-xml's own iterator,
/// which checks more than is needed here, took more time than all the rest.
pub(crate) struct Attributes<'a> {
    /// What was not read yet.
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
                // a name without a value: on to the next
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

/// Text with the predefined entities and character references resolved; others stay as written,
/// so nothing is ever expanded.
fn unescape(text: Cow<'_, str>) -> Cow<'_, str> {
    if memchr::memchr(b'&', text.as_bytes()).is_none() {
        return text;
    }
    match quick_xml::escape::unescape(&text) {
        Ok(plain) => Cow::Owned(plain.into_owned()),
        Err(_) => text,
    }
}

/// A walk over a document.
pub(crate) struct Xml<'a> {
    reader: Reader<&'a [u8]>,
    text: &'a str,
    depth: usize,
    seen_root: bool,
}

impl<'a> Xml<'a> {
    /// Starts at the beginning.
    pub(crate) fn new(text: &'a str) -> Xml<'a> {
        let mut reader = Reader::from_str(text);
        reader.config_mut().expand_empty_elements = true;
        Xml {
            reader,
            text,
            depth: 0,
            seen_root: false,
        }
    }

    /// Open elements.
    pub(crate) fn depth(&self) -> usize {
        self.depth
    }

    /// 1-based line of the place reached.
    pub(crate) fn line(&self) -> usize {
        line_at(self.text, self.reader.buffer_position() as usize)
    }

    fn fault(&self, message: impl Into<String>) -> Fault {
        Fault {
            line: self.line(),
            message: message.into(),
        }
    }

    /// The next step, or why there is none.
    pub(crate) fn next(&mut self) -> Result<Token<'a>, Fault> {
        loop {
            match self.reader.read_event() {
                Ok(Event::Start(tag)) => {
                    self.depth += 1;
                    self.seen_root = true;
                    if self.depth > MAX_DEPTH {
                        return Err(self.fault(format!("nested deeper than {MAX_DEPTH} elements")));
                    }
                    return Ok(Token::Open(Tag(tag)));
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
                    return Err(self.fault(format!("ends with {open} elements still open")));
                }
                Ok(Event::Eof) if !self.seen_root => return Err(self.fault("has no element")),
                Ok(Event::Eof) => return Ok(Token::End),
                Ok(_) => {}
                Err(error) => {
                    let message = format!("malformed XML: {error}");
                    let at = self.reader.error_position() as usize;
                    return Err(Fault {
                        line: line_at(self.text, at),
                        message,
                    });
                }
            }
        }
    }
}

/// An element of a small document.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Node {
    pub(crate) name: String,
    pub(crate) attributes: Vec<(String, String)>,
    /// Text directly in it, trimmed.
    pub(crate) text: String,
    pub(crate) children: Vec<Node>,
}

impl Node {
    /// Children of that name.
    pub(crate) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Node> {
        self.children
            .iter()
            .filter(move |c| c.name.eq_ignore_ascii_case(name))
    }

    /// First child of that name.
    pub(crate) fn child(&self, name: &str) -> Option<&Node> {
        self.children
            .iter()
            .find(|c| c.name.eq_ignore_ascii_case(name))
    }

    /// Value of an attribute, or the text of a child element, of that name (both forms occur).
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        let attribute = self
            .attributes
            .iter()
            .find(|(n, _)| n.eq_ignore_ascii_case(name));
        attribute
            .map(|(_, value)| value.as_str())
            .or_else(|| self.child(name).map(|c| c.text.as_str()))
            .filter(|value| !value.is_empty())
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

/// Reads a small document as a tree. With a fault, what came before it is in the tree.
/// Several roots (a log of elements) are children of a nameless node.
pub(crate) fn tree(text: &str) -> (Node, Option<Fault>) {
    let mut xml = Xml::new(text);
    let (mut open, mut nodes) = (vec![Node::default()], 0);
    let fault = loop {
        match xml.next() {
            Ok(Token::Open(tag)) => {
                nodes += 1;
                if nodes > MAX_NODES {
                    break Some(xml.fault(format!("has more than {MAX_NODES} elements")));
                }
                open.push(Node {
                    name: tag.name().to_owned(),
                    attributes: tag
                        .attributes()
                        .map(|(name, value)| (name.to_owned(), value.into_owned()))
                        .collect(),

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
        assert_eq!(
            fault.map(|f| f.message),
            Some("ends with 2 elements still open".to_owned())
        );
    }

    #[test]
    fn deep_nesting_is_refused() {
        let (_, fault) = walk(&"<a>".repeat(100_000));
        assert!(fault.is_some_and(|f| f.message.contains("nested deeper")));
        let (node, fault) = tree(&"<a>".repeat(100_000));
        assert!(fault.is_some());
        assert_eq!(node.descendants().len(), MAX_DEPTH + 1);
    }

    #[test]
    fn a_tree_takes_attributes_and_children_alike() {
        let (root, fault) = tree("<W><X id='1'><message> m </message></X></W>");
        assert_eq!(fault, None);
        let x = root
            .child("w")
            .and_then(|w| w.child("X"))
            .expect("X is there");
        assert_eq!(
            (x.field("id"), x.field("Message"), x.field("no")),
            (Some("1"), Some("m"), None)
        );
    }
}
