//! `FROM`: inputs and the joins between them.

use job::script::{Conjunct, Join, JoinKind, Query, Span};

use super::select::Select;
use super::value::{Labeled, Scope, Value, connected};
use super::{NullKeys, Step, Translator};
use crate::Unknown;
use crate::kind::Kind;
use crate::pairs::Touch;
use crate::unknown::excerpt;
use job::script::expr::{Expr, Op};

impl Translator<'_> {
    /// Sources and joins.
    pub(super) fn from(&mut self, query: &Query) -> Result<Select, Unknown> {
        let plain = query.inputs.len() == query.joins.len() + 1
            && query
                .joins
                .iter()
                .enumerate()
                .all(|(at, join)| join.right == at + 1);
        if !plain {
            return self.not_executed(self.script.slice(&query.span));
        }
        let mut select = Select::default();
        for (at, input) in query.inputs.iter().enumerate() {
            let relation = self.input(input)?;
            let alias = format!("i{at}");
            let label = input.label().to_owned();
            let last = label.rsplit('.').next().unwrap_or_default().to_owned();
            let source = format!("{} AS {alias}", relation.from);
            let labeled = Labeled {
                labels: vec![label, last],
                alias,
                columns: relation.columns,
            };
            match at.checked_sub(1).map(|join| &query.joins[join]) {
                None => {
                    select.from = source;
                    select.scope.inputs.push(labeled);
                }
                Some(join) => self.join(&mut select, join, &source, labeled)?,
            }
        }
        Ok(select)
    }

    fn join(
        &mut self,
        select: &mut Select,
        join: &Join,
        right: &str,
        labeled: Labeled,
    ) -> Result<(), Unknown> {
        let mut both = select.scope.clone();
        both.inputs.push(labeled);
        let on = self.on(&join.condition, &both)?;
        if on.is_none() != (join.kind == JoinKind::Cross) {
            return self.not_executed(self.script.slice(&join.span));
        }
        let on = on.unwrap_or_default();
        self.joined(&select.from, right, &on, &join.span);
        let words = match join.kind {
            JoinKind::LeftSemi | JoinKind::LeftAntiSemi if both.inputs.len() == 2 => {
                let not = if join.kind == JoinKind::LeftSemi {
                    ""
                } else {
                    "NOT "
                };
                select
                    .tests
                    .push(format!("{not}EXISTS (SELECT 1 FROM {right} WHERE {on})"));
                return Ok(());
            }
            JoinKind::Cross => "CROSS JOIN",
            JoinKind::Inner => "INNER JOIN",
            JoinKind::LeftOuter => "LEFT OUTER JOIN",
            JoinKind::RightOuter => "RIGHT OUTER JOIN",
            JoinKind::FullOuter => "FULL OUTER JOIN",
            _ => return self.not_executed(self.script.slice(&join.keyword_span)),
        };
        let condition = if on.is_empty() {
            String::new()
        } else {
            format!(" ON {on}")
        };
        // A semi-join tests rows behind the joins.
        if !select.tests.is_empty() {
            return self.not_executed(self.script.slice(&join.keyword_span));
        }
        select
            .from
            .push_str(&format!(" {words} {right}{condition}"));
        let last = both.inputs.len() - 1;
        let misses_left = matches!(join.kind, JoinKind::RightOuter | JoinKind::FullOuter);
        let misses_right = matches!(join.kind, JoinKind::LeftOuter | JoinKind::FullOuter);
        for (position, input) in both.inputs.iter_mut().enumerate() {
            let missing = if position == last {
                misses_right
            } else {
                misses_left
            };
            input
                .columns
                .iter_mut()
                .for_each(|column| column.nullable |= missing);
        }
        select.scope = both;
        Ok(())
    }

    /// A join that was changed must find partners in some run.
    fn joined(&mut self, from: &str, right: &str, on: &str, span: &Span) {
        if self.touch == Touch::Changed && !on.is_empty() {
            self.program.steps.push(Step::Matches {
                sql: format!("SELECT 1 FROM {from} INNER JOIN {right} ON {on} LIMIT 1"),
                line: self.line,
                code: excerpt(self.script.slice(span)),
            });
        }
    }

    /// The condition of a join. The execution options decide whether null keys match.
    fn on(&mut self, condition: &[Conjunct], scope: &Scope) -> Result<Option<String>, Unknown> {
        let mut all: Option<Value> = None;
        for part in condition {
            let parsed = self.script.expression(&part.expression.span);
            let test = match &parsed {
                Some(Expr::Binary(Op::Equal, left, right)) => {
                    let (l, r) = (self.value(left, scope)?, self.value(right, scope)?);
                    match (l.kind, r.kind) {
                        (Some(a), Some(b))
                            if a == b
                                || a.is_whole() && b.is_whole()
                                || a == Kind::Opaque
                                || b == Kind::Opaque =>
                        {
                            let sign = if self.way.null_keys == NullKeys::Match {
                                "IS"
                            } else {
                                "="
                            };
                            Value {
                                nullable: false,
                                ..Value::new(
                                    format!("({} {sign} {})", l.sql, r.sql),
                                    Kind::Bool,
                                    &[&l, &r],
                                )
                            }
                        }
                        _ => self.condition(&part.expression.span, scope)?,
                    }
                }
                _ => self.condition(&part.expression.span, scope)?,
            };
            all = Some(match all {
                None => test,
                Some(before) => connected(Op::And, &before, &test),
            });
        }
        Ok(all.map(|all| all.sql))
    }
}
