//! The syntax tree of a Python program, as plain data.

use tree_sitter::{Language, TreeCursor};

use crate::script::Span;

/// Most nodes of a program; a longer one is treated like one that does not parse.
const MOST_NODES: usize = 400_000;

/// The kinds of nodes that other modules look at; any other is the empty string.
const KINDS: [&str; 56] = [
    "module",
    "block",
    "comment",
    "expression_statement",
    "assignment",
    "return_statement",
    "if_statement",
    "elif_clause",
    "else_clause",
    "for_statement",
    "for_in_clause",
    "while_statement",
    "with_statement",
    "function_definition",
    "decorated_definition",
    "decorator",
    "class_definition",
    "import_statement",
    "import_from_statement",
    "aliased_import",
    "dotted_name",
    "call",
    "attribute",
    "identifier",
    "argument_list",
    "keyword_argument",
    "parameters",
    "lambda_parameters",
    "lambda",
    "typed_parameter",
    "string",
    "string_start",
    "string_content",
    "string_end",
    "escape_sequence",
    "interpolation",
    "integer",
    "float",
    "none",
    "true",
    "false",
    "list",
    "list_comprehension",
    "tuple",
    "dictionary",
    "delete_statement",
    "binary_operator",
    "unary_operator",
    "boolean_operator",
    "not_operator",
    "comparison_operator",
    "conditional_expression",
    "parenthesized_expression",
    "subscript",
    "slice",
    "global_statement",
];

/// The roles that other modules look at.
const FIELDS: [&str; 24] = [
    "function",
    "arguments",
    "object",
    "attribute",
    "name",
    "value",
    "left",
    "right",
    "body",
    "consequence",
    "alternative",
    "definition",
    "parameters",
    "module_name",
    "alias",
    "operator",
    "operators",
    "argument",
    "condition",
    "subscript",
    "type",
    "return_type",
    "key",
    "expression",
];

/// A named node of the grammar `tree-sitter-python`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    pub kind: &'static str,
    /// Its role in the parent: `function`, `arguments`, `left`, ….
    pub field: Option<&'static str>,
    pub span: Span,
    pub parent: usize,
    /// The first node after its subtree.
    pub end: usize,
}

/// Nodes in the order of their start, parents before children; the first is the module.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Syntax {
    pub nodes: Vec<Node>,
    /// Whether a part of the text does not parse.
    pub faulty: bool,
}

impl Syntax {
    /// Parses a program. Parts that do not parse are left out of the tree.
    pub fn parse(text: &str) -> Syntax {
        let mut parser = tree_sitter::Parser::new();
        let language = Language::new(tree_sitter_python::LANGUAGE);
        let tree = match parser.set_language(&language) {
            Ok(()) => parser.parse(text, None),
            Err(_) => None,
        };
        let Some(tree) = tree else {
            return Syntax {
                nodes: Vec::new(),
                faulty: true,
            };
        };
        let mut syntax = Syntax {
            nodes: Vec::new(),
            faulty: tree.root_node().has_error(),
        };
        syntax.copy(&mut tree.walk());
        if syntax.nodes.len() > MOST_NODES {
            (syntax.nodes, syntax.faulty) = (Vec::new(), true);
        }
        syntax
    }

    /// Copies the named nodes below a cursor, without recursion: expressions may be deeply nested.
    fn copy(&mut self, cursor: &mut TreeCursor<'_>) {
        let mut open: Vec<Option<usize>> = Vec::new();
        loop {
            let node = cursor.node();
            let own = node.is_named().then_some(self.nodes.len());
            if own.is_some() {
                let parent = open.iter().rev().flatten().next();
                self.nodes.push(Node {
                    kind: known(&KINDS, node.kind()).unwrap_or_default(),
                    field: cursor.field_name().and_then(|name| known(&FIELDS, name)),
                    span: node.byte_range(),
                    parent: parent.copied().unwrap_or_default(),
                    end: 0,
                });
            }
            open.push(own);
            if self.nodes.len() <= MOST_NODES && cursor.goto_first_child() {
                continue;
            }
            loop {
                if let Some(closed) = open.pop().flatten() {
                    self.nodes[closed].end = self.nodes.len();
                }
                if cursor.goto_next_sibling() {
                    break;
                }
                if !cursor.goto_parent() {
                    return;
                }
            }
        }
    }

    pub fn children(&self, node: usize) -> impl Iterator<Item = usize> {
        let end = self.nodes.get(node).map_or(0, |n| n.end);
        let first = Some(node + 1).filter(|at| *at < end);
        std::iter::successors(first, move |at| {
            Some(self.nodes[*at].end.max(*at + 1)).filter(|next| *next < end)
        })
    }

    /// All nodes of a subtree.
    pub fn subtree(&self, node: usize) -> impl Iterator<Item = usize> {
        node..self.nodes.get(node).map_or(node, |n| n.end)
    }

    pub fn child(&self, node: usize, field: &str) -> Option<usize> {
        self.children(node)
            .find(|at| self.nodes[*at].field == Some(field))
    }

    pub fn kind(&self, node: usize) -> &'static str {
        self.nodes.get(node).map_or("", |n| n.kind)
    }

    pub fn span(&self, node: usize) -> Span {
        self.nodes.get(node).map_or(0..0, |n| n.span.clone())
    }

    /// The node and its parents, innermost first.
    pub fn upward(&self, node: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(node), |at| {
            Some(self.nodes.get(*at)?.parent).filter(|_| *at > 0)
        })
    }
}

fn known(names: &[&'static str], name: &str) -> Option<&'static str> {
    names.iter().find(|known| **known == name).copied()
}
