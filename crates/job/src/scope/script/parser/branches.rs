//! Ways of reading a statement with `#IF` branches in it.
//!
//! The value of a condition is unknown, so each reading takes one branch of every `#IF`, or all
//! branches one after the other; the parser keeps the first reading that fits the grammar.

use std::ops::Range;

use crate::script::extent::directive_word;
use crate::script::lexer::TokenKind;
use crate::script::tree::SyntaxTree;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Choice {
    /// The `#ELSE` of `#IF (LOCAL)`, else the first branch: the code for the cluster.
    Cluster,
    Other,
    All,
}

/// Token lists for the parser, the most likely first; a single one without `#IF`.
pub(super) fn readings(text: &str, tree: &SyntaxTree, tokens: Range<usize>) -> Vec<Vec<u32>> {
    let kind = |token: usize| tree.token_kind(token);
    let is_directive = |token: usize| kind(token) == TokenKind::Directive;
    if !tokens.clone().any(is_directive) {
        let seen = tokens.filter(|&token| !kind(token).is_trivia());
        return vec![seen.map(|token| token as u32).collect()];
    }
    let branches = branches(text, tree, tokens.clone());
    let take = |choice: Choice| -> Vec<u32> {
        let tokens = tokens.clone().zip(&branches);
        let kept = tokens.filter(|(token, branch)| {
            let kind = kind(*token);
            !kind.is_trivia() && kind != TokenKind::Directive && branch.is_in(choice)
        });
        kept.map(|(token, _)| token as u32).collect()
    };
    [Choice::Cluster, Choice::Other, Choice::All]
        .map(take)
        .to_vec()
}

/// The branches around a token, reduced to membership in each choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Branch {
    cluster: bool,
    other: bool,
}

impl Branch {
    fn is_in(self, choice: Choice) -> bool {
        match choice {
            Choice::Cluster => self.cluster,
            Choice::Other => self.other,
            Choice::All => true,
        }
    }
}

struct Condition {
    outer: Branch,
    /// Whether the branch for the cluster is the `#ELSE`.
    local: bool,
}

fn branches(text: &str, tree: &SyntaxTree, tokens: Range<usize>) -> Vec<Branch> {
    let both = Branch {
        cluster: true,
        other: true,
    };
    let mut open: Vec<Condition> = Vec::new();
    let mut current = both;
    if closes_unopened(text, tree, tokens.clone()) {
        // the statement begins inside a branch; the `#IF` is in an earlier statement
        let (outer, local) = (both, false);
        open.push(Condition { outer, local });
        current = Branch {
            cluster: true,
            other: false,
        };
    }
    let mut found = Vec::with_capacity(tokens.len());
    for token in tokens {
        if tree.token_kind(token) == TokenKind::Directive {
            let line = text.get(tree.token_span(token)).unwrap_or_default();
            match directive_word(line) {
                "IF" | "IFDEF" | "IFNDEF" => {
                    let (outer, local) = (current, line.contains("LOCAL"));
                    open.push(Condition { outer, local });
                    current = first_branch(outer, local);
                }
                "ELSE" | "ELIF" | "ELSEIF" => {
                    if let Some(condition) = open.last() {
                        current = first_branch(condition.outer, !condition.local);
                    }
                }
                "ENDIF" => {
                    if let Some(condition) = open.pop() {
                        current = condition.outer;
                    }
                }
                _ => {}
            }
        }
        found.push(current);
    }
    found
}

fn first_branch(outer: Branch, local: bool) -> Branch {
    Branch {
        cluster: outer.cluster && !local,
        other: outer.other && local,
    }
}

fn closes_unopened(text: &str, tree: &SyntaxTree, tokens: Range<usize>) -> bool {
    let mut depth = 0;
    for token in tokens.filter(|&token| tree.token_kind(token) == TokenKind::Directive) {
        match directive_word(text.get(tree.token_span(token)).unwrap_or_default()) {
            "IF" | "IFDEF" | "IFNDEF" => depth += 1,
            "ELSE" | "ELIF" | "ELSEIF" if depth == 0 => return true,
            "ENDIF" if depth == 0 => return true,
            "ENDIF" => depth -= 1,
            _ => {}
        }
    }
    false
}
