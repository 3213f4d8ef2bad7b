//! Finds the piece of a program that a part of a plan came from.

use std::collections::BTreeSet;

use super::part::{AGGREGATES, FILES, PARTITIONS, ROWS};
use super::{Call, Language, Part, Program, sql};
use crate::script::Span;

/// A piece of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    pub span: Span,
    pub statement: usize,
    /// Position in [`Program::calls`]; `None` for a piece of a query.
    pub call: Option<usize>,
}

/// A piece of the program, with its points.
struct Candidate {
    place: Place,
    points: usize,
    /// Whether the action needs its statement.
    needed: bool,
}

impl Program {
    /// The piece of a call.
    pub fn place_of(&self, call: usize) -> Option<Place> {
        let own = self.calls.get(call)?;
        Some(Place {
            span: own.span.clone(),
            statement: own.statement,
            call: Some(call),
        })
    }

    /// The piece that does `part` with the given words: columns, functions, the last part of a path. A word with `(` at its
    /// end only decides between statements that fit equally well. `None` if no piece fits, or if several fit as well. `needed`
    /// are the statements that the action of the plan needs, if it is known.
    pub fn find(
        &self,
        part: Part,
        words: &[String],
        needed: Option<&BTreeSet<usize>>,
    ) -> Option<Place> {
        let wanted: BTreeSet<&str> = words.iter().map(String::as_str).collect();
        let aliases = match part {
            Part::UserCode => self.aliases(&wanted),
            _ => BTreeSet::new(),
        };
        let calls = self.calls.iter().enumerate();
        let of_calls = calls.filter_map(|(at, call)| {
            let points = match part {
                Part::UserCode => self.calls_function(call, &wanted, &aliases)?,
                _ => self.points(part, call, &wanted)?,
            };
            Some((self.place_of(at)?, points))
        });
        let of_queries = self.clauses(part, &wanted);
        let mut candidates: Vec<Candidate> = of_calls
            .chain(of_queries)
            .map(|(place, points)| Candidate {
                needed: needed.is_none_or(|needed| needed.contains(&place.statement)),
                place,
                points,
            })
            .collect();
        if candidates.iter().any(|c| c.needed) {
            candidates.retain(|c| c.needed);
        }
        let best = candidates.iter().map(|c| c.points).max()?;
        // the path of a reader or writer may come from a variable; other pieces without a common word are chance
        let by_variable = matches!(part, Part::Read | Part::Write) && candidates.len() == 1;
        let unnamed = wanted.is_empty() && candidates.len() == 1;
        if best == 0 && !by_variable && !unnamed {
            return None;
        }
        candidates.retain(|c| c.points == best);
        if part == Part::Aggregate && best > 0 {
            // `groupBy("store")` rather than `groupBy("day", "store")`
            let others = |c: &Candidate| {
                self.slice(&c.place.span)
                    .split(|c: char| !c.is_alphanumeric())
                    .count()
            };
            let fewest = candidates.iter().map(others).min();
            candidates.retain(|c| Some(others(c)) == fewest);
            let called = |c: &Candidate| {
                let statement = self.slice(&self.statements[c.place.statement].span);
                let own = words.iter().filter(|word| word.ends_with('('));
                own.filter(|word| statement.contains(word.as_str())).count()
            };
            let most = candidates.iter().map(called).max();
            candidates.retain(|c| Some(called(c)) == most);
        }
        let inside = |a: &Span, b: &Span| b.start <= a.start && a.end <= b.end;
        let first = candidates
            .iter()
            .min_by_key(|c| c.place.span.len())?
            .place
            .clone();
        match candidates.as_slice() {
            // a piece within the others, such as the join of a subquery
            several if several.iter().all(|c| inside(&first.span, &c.place.span)) => Some(first),
            several => self.hull(several.iter().map(|c| &c.place)),
        }
    }

    /// The piece from the first to the last of several in the same statement or in consecutive ones.
    pub(super) fn hull<'p>(&self, places: impl Iterator<Item = &'p Place>) -> Option<Place> {
        let mut places: Vec<&Place> = places.collect();
        places.sort_by_key(|place| place.span.start);
        let (first, rest) = places.split_first()?;
        let scopes = |at: usize| self.statements.get(at).map(|s| &s.scopes);
        let follows = places.windows(2).all(|two| {
            let [a, b] = [two[0].statement, two[1].statement];
            a.abs_diff(b) <= 1 && scopes(a) == scopes(b)
        });
        let end = places.iter().map(|place| place.span.end).max()?;
        follows.then(|| Place {
            span: first.span.start..end,
            statement: first.statement,
            call: first.call.filter(|_| rest.is_empty()),
        })
    }

    /// The body of the innermost loop around a statement.
    pub fn loop_around(&self, statement: usize) -> Option<Span> {
        let body = self.syntax.child(self.loop_of(statement)?, "body")?;
        Some(self.syntax.span(body))
    }

    /// The innermost loop around a statement.
    pub fn loop_of(&self, statement: usize) -> Option<usize> {
        let span = &self.statements.get(statement)?.span;
        let loops = self.syntax.nodes.iter().enumerate();
        let loops = loops.filter(|(_, n)| matches!(n.kind, "for_statement" | "while_statement"));
        let bodies = loops.filter_map(|(at, _)| Some((at, self.syntax.child(at, "body")?)));
        let bodies = bodies.map(|(at, body)| (at, self.syntax.span(body)));
        let around = bodies.filter(|(_, body)| body.start <= span.start && span.end <= body.end);
        around.min_by_key(|(_, body)| body.len()).map(|(at, _)| at)
    }

    /// The only function that a call names: as the function that is called, or as an argument.
    pub fn function_named_by(&self, call: &Call) -> Option<usize> {
        let arguments = call.arguments.iter().map(|a| self.text_of(a.node));
        let names: BTreeSet<&str> = arguments.chain([call.name.as_str()]).collect();
        self.function_with(|name| names.contains(name))
    }

    /// Whether a statement assigns a DataFrame or an RDD.
    pub fn assigns_rows(&self, statement: usize) -> bool {
        let known = self.statements.get(statement);
        let mut value = known.and_then(|s| s.value.filter(|_| s.target.is_some()));
        while let Some(inner) =
            value.filter(|at| self.syntax.kind(*at) == "parenthesized_expression")
        {
            value = self.syntax.children(inner).next();
        }
        let call = value.and_then(|at| self.call_of(at));
        call.is_some_and(|c| {
            c.receiver.is_some() && ROWS.contains(&c.name.as_str()) && !self.is_written(c)
        })
    }

    /// Words that a call has in common with a part of the plan; `None` if it does something else.
    pub(super) fn points(&self, part: Part, call: &Call, wanted: &BTreeSet<&str>) -> Option<usize> {
        let name = call.name.as_str();
        let text = self.slice(&call.span);
        let known = part.methods().contains(&name);
        let windowed = || {
            let text = self.with_bound(call);
            (text.contains("over(") || text.contains("OVER")).then_some(text)
        };
        let fits = match part {
            Part::Read => return self.reads_path(call, wanted),
            Part::Write => known && self.is_written(call),
            Part::Window => return known.then(windowed)?.map(|text| common(&text, wanted)),
            Part::Gather if PARTITIONS.contains(&name) => {
                known
                    && self
                        .argument(call, 0, "numPartitions")
                        .is_some_and(|at| self.text_of(at) == "1")
            }
            Part::Gather if name == "limit" => known,
            Part::Partitioning if name == "hint" => self.is_partition_hint(call),
            Part::Gather => known && windowed().is_some_and(|text| !text.contains("partitionBy")),
            Part::Aggregate if name == "agg" => {
                known
                    && call
                        .receiver
                        .and_then(|at| self.call_of(at))
                        .is_none_or(|c| !AGGREGATES.contains(&c.name.as_str()))
            }
            Part::Join => known && self.joins_rows(call),
            Part::Expression => known && !self.is_nested(call),
            Part::Sort => {
                let receiver = call.receiver.map_or("", |at| self.text_of(at));
                known && !receiver.contains("Window")
            }
            _ => known,
        };
        let text = match part {
            Part::Join => self.with_bound(call),
            _ => text.to_owned(),
        };
        fits.then(|| common(&text, wanted))
    }

    /// Text of a call, and of the conditions and windows that its names stand for.
    fn with_bound(&self, call: &Call) -> String {
        let mut text = self.slice(&call.span).to_owned();
        let syntax = &self.syntax;
        let names = call.arguments.iter().flat_map(|a| syntax.subtree(a.node));
        for name in names.filter(|at| syntax.kind(*at) == "identifier") {
            let value = self.bound(name, call.statement);
            let own = self.text_of(value);
            if value != name
                && (own.contains("Window")
                    || matches!(
                        syntax.kind(value),
                        "string" | "list" | "comparison_operator" | "binary_operator"
                    ))
            {
                text.push(' ');
                text.push_str(own);
            }
        }
        text
    }

    /// Whether the call passes rows to one of the functions `wanted`, or to one of their `aliases`.
    fn calls_function(
        &self,
        call: &Call,
        wanted: &BTreeSet<&str>,
        aliases: &BTreeSet<&str>,
    ) -> Option<usize> {
        let by_rows = Part::UserCode.methods().contains(&call.name.as_str());
        if wanted.is_empty() {
            let of_frames = call.name.starts_with("mapIn") || call.name.starts_with("applyIn");
            return (of_frames || self.applies_function(call)).then_some(1);
        }
        let is_wanted = |name: &str| wanted.contains(name) || aliases.contains(name);
        let passed = |a: &super::Argument| is_wanted(self.function_name(a.node));
        let in_text = || {
            let text = self.slice(&call.span);
            let used = |name: &&str| text.contains(&format!("{name}("));
            matches!(call.name.as_str(), "expr" | "selectExpr" | "sql") && wanted.iter().any(used)
        };
        let declared = matches!(call.name.as_str(), "udf" | "pandas_udf" | "register");
        let made = self
            .syntax
            .child(call.node, "function")
            .filter(|_| call.name.is_empty());
        let made = made.and_then(|at| self.call_of(at));
        let inline =
            made.is_some_and(|made| made.name.ends_with("udf") && declares(self, made, wanted));
        let own = inline || call.receiver.is_none() && is_wanted(&call.name);
        (!declared && (own || by_rows && call.arguments.iter().any(passed) || in_text()))
            .then_some(1)
    }

    /// The name of a function or method that is passed on: `parse` of `self.parse`.
    fn function_name(&self, node: usize) -> &str {
        let method = self.syntax.child(node, "attribute");
        let is_method = self.syntax.kind(node) == "attribute";
        self.text_of(method.filter(|_| is_method).unwrap_or(node))
    }

    /// Names that stand for user-defined functions made of the functions `wanted`.
    fn aliases(&self, wanted: &BTreeSet<&str>) -> BTreeSet<&str> {
        let declared = self
            .calls
            .iter()
            .filter(|c| matches!(c.name.as_str(), "udf" | "pandas_udf" | "register"));
        let of_wanted = declared.filter(|c| declares(self, c, wanted));
        let target = |c: &Call| self.statements.get(c.statement)?.target.as_deref();
        of_wanted.filter_map(target).collect()
    }

    /// Whether the call names a path or table that ends with one of the words.
    fn reads_path(&self, call: &Call, wanted: &BTreeSet<&str>) -> Option<usize> {
        let by_reader = FILES.contains(&call.name.as_str()) && !self.is_written(call);
        let ends = call.arguments.iter().any(|a| {
            let text = self.text_of(a.node).trim_end_matches(['"', '\'', '/', '*']);
            let last = text
                .rsplit(['/', '"', '\'', '.'])
                .next()
                .unwrap_or_default();
            matches!(
                self.syntax.kind(a.node),
                "string" | "call" | "binary_operator"
            ) && wanted.contains(last)
        });
        let helper = call.receiver.is_none() && !self.is_written(call);
        match (by_reader, ends) {
            (true, true) => Some(2),
            (false, true) if helper => Some(2),
            (true, false) => Some(0),
            _ => None,
        }
    }

    /// Whether the call is one of a writer, as `df.write.mode("overwrite").parquet`.
    fn is_written(&self, call: &Call) -> bool {
        let receiver = call.receiver.map_or("", |at| self.text_of(at));
        [".write", ".writeTo"].iter().any(|w| receiver.contains(w)) || call.name.starts_with("save")
    }

    /// Whether a `join` is one of rows, not of strings or paths.
    fn joins_rows(&self, call: &Call) -> bool {
        let receiver = call.receiver.unwrap_or_default();
        let is_text = matches!(self.syntax.kind(receiver), "string" | "module");
        !is_text && !self.text_of(receiver).ends_with("path")
    }

    fn is_nested(&self, call: &Call) -> bool {
        let mut above = self.syntax.upward(call.node).skip(1);
        above.any(|at| self.syntax.kind(at) == "argument_list")
    }

    /// Clauses of the queries that do `part`.
    fn clauses(&self, part: Part, wanted: &BTreeSet<&str>) -> Vec<(Place, usize)> {
        let mut found = Vec::new();
        for query in &self.queries {
            let place = |span: Span| Place {
                span,
                statement: query.statement,
                call: None,
            };
            let add = |span: Span| {
                let mut text = self.slice(&span).to_owned();
                let is_filled = text.contains(['%', '{']);
                for value in query.filled.iter().filter(|_| is_filled) {
                    text = text + " " + self.slice(value);
                }
                (place(span), common(&text, wanted))
            };
            let hints = || {
                let all = self.partition_hints();
                all.filter(|(place, _)| query.span.contains(&place.span.start))
            };
            if part == Part::Partitioning {
                found.extend(hints().map(|(place, _)| add(place.span)));
            } else if part == Part::Gather {
                let one = |hint: &sql::SqlHint| self.count_in(hint).is_some_and(|(_, n)| n == 1);
                found.extend(
                    hints()
                        .filter(|(_, h)| one(h))
                        .map(|(place, _)| add(place.span)),
                );
            }
            if part == Part::Join {
                found.extend(
                    sql::joins(&self.text, &query.span)
                        .into_iter()
                        .map(|j| add(j.span)),
                );
            } else if let Some(word) = part.clause() {
                found.extend(
                    sql::clauses(&self.text, &query.span, word)
                        .into_iter()
                        .map(add),
                );
            } else if part == Part::UserCode {
                let used = |name: &&str| self.slice(&query.span).contains(&format!("{name}("));
                let used = wanted.iter().find(|name| used(name));
                let line = used.map(|name| sql::word(&self.text, &query.span, name));
                found.extend(line.flatten().map(|span| (place(span), 1)));
            } else if part == Part::Read && self.language == Language::Sql {
                let tables = wanted
                    .iter()
                    .filter_map(|name| sql::word(&self.text, &query.span, name));
                found.extend(tables.map(|span| (place(span), 2)));
            }
        }
        found
    }
}

/// Whether a call makes a user-defined function of one of the functions `wanted`.
fn declares(program: &Program, call: &Call, wanted: &BTreeSet<&str>) -> bool {
    call.arguments.iter().any(|a| {
        let text = program.function_name(a.node);
        wanted.contains(text) || wanted.contains("lambda") && text.starts_with("lambda")
    })
}

/// The item of an iterator that has no other.
pub fn only<T>(mut items: impl Iterator<Item = T>) -> Option<T> {
    items.next().filter(|_| items.next().is_none())
}

/// Number of the words that occur in a text.
fn common(text: &str, wanted: &BTreeSet<&str>) -> usize {
    let own: BTreeSet<&str> = text
        .split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .collect();
    wanted.iter().filter(|word| own.contains(*word)).count()
}
