//! Pairs the statements of two scripts: corresponding, changed, and affected by a change.

use job::script::{Query, RowsetRef, RowsetSource, Script, StatementKind, TokenKind};

use crate::Unknown;
use crate::known::outside_statements;
use crate::tokens::{has_directive, immaterial, plain};
use crate::unknown::excerpt;

/// Statements of a script that is compared; real ones have dozens.
const MOST_STATEMENTS: usize = 400;

/// Effect of a change on one statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Touch {
    /// Only one of the scripts has its text.
    Changed,
    /// It reads a changed statement, directly or not.
    Affected,
    /// Its rows are the same.
    None,
}

/// The statements of both scripts.
#[derive(Debug)]
pub(crate) struct Pairs {
    pub(crate) before: Vec<Touch>,
    pub(crate) after: Vec<Touch>,
    /// Statement of the changed script for each statement of the first one.
    pub(crate) partner: Vec<Option<usize>>,
}

/// Pairs statements with equal text, first to last.
pub(crate) fn pair(before: &Script, after: &Script) -> Result<Pairs, Unknown> {
    let texts = |script: &Script| -> Vec<Vec<String>> {
        let immaterial = immaterial(script);
        let own = |s| {
            plain(script, s, &immaterial)
                .into_iter()
                .map(|(_, text)| text.to_owned())
        };
        script.statements.iter().map(|s| own(s).collect()).collect()
    };
    let (old, new) = (texts(before), texts(after));
    if old.len().max(new.len()) > MOST_STATEMENTS {
        return Err(Unknown::TooLarge);
    }
    let partner = common(&old, &new);
    let mut back = vec![None; new.len()];
    for (old, new) in partner.iter().enumerate() {
        if let Some(new) = *new {
            back[new] = Some(old);
        }
    }
    environment(before, &|at| partner[at].is_none())?;
    environment(after, &|at| back[at].is_none())?;
    if !outside_statements(before).eq(outside_statements(after)) {
        return Err(Unknown::Environment {
            code: "#IF".to_owned(),
        });
    }
    let declared = |script: &Script, partner: &[Option<usize>]| {
        let mut statements = script.statements.iter();
        statements.any(|s| s.kind == StatementKind::Declare && partner[s.index].is_none())
    };
    let everything = declared(before, &partner) || declared(after, &back);
    let mut pairs = Pairs {
        before: touches(before, &partner, everything),
        after: touches(after, &back, everything),
        partner,
    };
    pairs.agree(before, after);
    Ok(pairs)
}

impl Pairs {
    /// A statement is touched if its partner is, or if the same name leads to another rowset.
    fn agree(&mut self, before: &Script, after: &Script) {
        for (old, new) in self.partner.iter().enumerate() {
            let Some(new) = *new else { continue };
            let definitions = |script: &Script, at: usize| -> Vec<Option<usize>> {
                references(&script.statements[at].query)
                    .map(|input| input.definition)
                    .collect()
            };
            let (of_old, of_new) = (definitions(before, old), definitions(after, new));
            let same = of_old.len() == of_new.len()
                && of_old.iter().zip(&of_new).all(|pair| match pair {
                    (None, None) => true,
                    (Some(old), Some(new)) => {
                        self.partner[*old] == Some(*new)
                            && self.before[*old] == Touch::None
                            && self.after[*new] == Touch::None
                    }
                    _ => false,
                });
            let touched =
                !same || self.before[old] != Touch::None || self.after[new] != Touch::None;
            if touched {
                self.before[old] = Touch::Affected;
                self.after[new] = Touch::Affected;
            }
        }
    }
}

/// Longest common subsequence.
fn common(old: &[Vec<String>], new: &[Vec<String>]) -> Vec<Option<usize>> {
    let width = new.len() + 1;
    let mut longest = vec![0u32; (old.len() + 1) * width];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            longest[i * width + j] = match old[i] == new[j] {
                true => longest[(i + 1) * width + j + 1] + 1,
                false => longest[(i + 1) * width + j].max(longest[i * width + j + 1]),
            };
        }
    }
    let mut partner = vec![None; old.len()];
    let (mut i, mut j) = (0, 0);
    while i < old.len() && j < new.len() {
        if old[i] == new[j] {
            partner[i] = Some(j);
            (i, j) = (i + 1, j + 1);
        } else if longest[(i + 1) * width + j] >= longest[i * width + j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    partner
}

fn touches(script: &Script, partner: &[Option<usize>], everything: bool) -> Vec<Touch> {
    let mut found: Vec<Touch> = Vec::with_capacity(script.statements.len());
    for statement in &script.statements {
        let mut read = references(&statement.query).filter_map(|input| input.definition);
        let reads_changed = read.any(|at| found.get(at).is_some_and(|touch| *touch != Touch::None));
        found.push(match partner[statement.index] {
            None => Touch::Changed,
            Some(_) if everything || reads_changed => Touch::Affected,
            Some(_) => Touch::None,
        });
    }
    found
}

/// Every rowset that a query names, in the order of the text.
pub(crate) fn references(query: &Query) -> Box<dyn Iterator<Item = &RowsetRef> + '_> {
    let of_branches = query.branches.iter().flat_map(references);
    let of_inputs = query.inputs.iter().flat_map(|input| match &input.source {
        RowsetSource::Query(inner) => references(inner),
        _ => Box::new(std::iter::once(input)),
    });
    Box::new(of_branches.chain(of_inputs))
}

/// Refuses changes of anything but rowsets, outputs and declared values.
fn environment(script: &Script, changed: &dyn Fn(usize) -> bool) -> Result<(), Unknown> {
    for statement in script.statements.iter().filter(|s| changed(s.index)) {
        let code = || excerpt(script.slice(&statement.span));
        if statement.kind == StatementKind::CsBlock {
            return Err(Unknown::UserCode {
                code: "#CS".to_owned(),
            });
        }
        let plain = matches!(
            statement.kind,
            StatementKind::Output | StatementKind::Declare | StatementKind::Empty
        );
        let alone = statement.parent.is_none() && !has_directive(script, &statement.span);
        if !alone || !plain && !statement.makes_rowset() {
            return Err(Unknown::Environment { code: code() });
        }
        let user_code = matches!(
            statement.kind,
            StatementKind::Process
                | StatementKind::Reduce
                | StatementKind::Combine
                | StatementKind::Extract
        );
        if user_code {
            let class = statement.query.using_class.clone();
            return Err(Unknown::UserCode {
                code: class.unwrap_or_else(code),
            });
        }
    }
    let flows = |kind| {
        matches!(
            kind,
            StatementKind::If | StatementKind::Loop | StatementKind::Begin
        )
    };
    match script.statements.iter().find(|s| flows(s.kind)) {
        Some(statement) => Err(Unknown::NotExecuted {
            line: statement.lines.0,
            code: excerpt(script.slice(&statement.span)),
        }),
        None => Ok(()),
    }
}

/// Texts of an output's clauses without its input and the keys and directions of its order.
pub(crate) fn clauses(script: &Script, statement: &job::script::Statement) -> Vec<String> {
    let input = statement
        .query
        .inputs
        .first()
        .map(|input| input.span.clone());
    let sorted = statement.output.iter().flat_map(|output| &output.sorted_by);
    let mut cut: Vec<_> = sorted.map(|key| key.expression.span.clone()).collect();
    cut.extend(input);
    let tokens = script.tokens_in(&statement.span);
    let kept = tokens.filter(|(kind, span, text)| {
        let direction = *kind == TokenKind::Word && matches!(*text, "ASC" | "DESC");
        !direction && *text != "," && !cut.iter().any(|cut| cut.contains(&span.start))
    });
    kept.map(|(_, _, text)| text.to_owned()).collect()
}
