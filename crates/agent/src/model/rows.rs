//! How much of stages and inputs a prompt shows: all measurements of the most relevant, one line of the rest, as far as there is
//! room.
//!
//! The room is a share of the prompt, so a model with a larger context sees more of a large job.

use super::tokens::tokens;
use crate::measures::{Measures, TableRow};
use crate::outline::StageRow;

/// Rows that are shown in full even if the context is small; the cuts of the prompt come later.
const ALWAYS_IN_FULL: usize = 20;

/// Share of the prompt for rows in full; a stage takes some 250 tokens.
const FULL_SHARE: usize = 6;

/// Share of the prompt for rows in one line.
const BRIEF_SHARE: usize = 12;

/// Something measured that can be described in one line.
pub(super) trait Row {
    /// Place in the order of relevance, from 0.
    fn rank(&self) -> usize;
    /// Tokens of its name and of the other parts that are always shown.
    fn heading(&self) -> usize;
    fn measures(&mut self) -> &mut Measures;
}

impl Row for StageRow {
    fn rank(&self) -> usize {
        self.rank
    }

    fn heading(&self) -> usize {
        let operators = self.operators.iter().map(|o| tokens(o));
        tokens(&self.name) + operators.sum::<usize>()
    }

    fn measures(&mut self) -> &mut Measures {
        &mut self.measures
    }
}

impl Row for TableRow {
    fn rank(&self) -> usize {
        self.rank
    }

    fn heading(&self) -> usize {
        tokens(&self.name)
    }

    fn measures(&mut self) -> &mut Measures {
        &mut self.measures
    }
}

/// Rows shortened or dropped to fit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Left {
    /// Rows cut to one line.
    pub(super) shortened: usize,
    /// Rows left out.
    pub(super) dropped: usize,
}

/// Fits rows into their shares of a prompt of `budget` tokens; their order remains.
pub(super) fn fit<R: Row>(rows: &mut Vec<R>, budget: usize) -> Left {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by_key(|at| rows[*at].rank());
    let (mut full, mut brief) = (budget / FULL_SHARE, budget / BRIEF_SHARE);
    let mut left = Left::default();
    let mut kept = vec![true; rows.len()];
    let mut is_full = true;
    for (place, at) in order.into_iter().enumerate() {
        let row = &mut rows[at];
        let lines = |row: &mut R| {
            row.measures()
                .lines
                .iter()
                .map(|l| tokens(l))
                .sum::<usize>()
        };
        let needed = row.heading() + lines(row);
        is_full &= place < ALWAYS_IN_FULL || needed <= full;
        if is_full {
            full = full.saturating_sub(needed);
            continue;
        }
        left.shortened += usize::from(shorten(row));
        let needed = row.heading() + lines(row);
        kept[at] = needed <= brief;
        brief = brief.saturating_sub(needed);
    }
    left.dropped = kept.iter().filter(|kept| !**kept).count();
    let mut kept = kept.into_iter();
    rows.retain(|_| kept.next().unwrap_or(true));
    left
}

/// Keeps one line of a row; returns whether there were more.
pub(super) fn shorten(row: &mut impl Row) -> bool {
    let lines = &mut row.measures().lines;
    let is_longer = lines.len() > 1;
    lines.truncate(1);
    is_longer
}

/// Keeps the rows that matter most; returns how many were dropped.
pub(super) fn keep_best<R: Row>(rows: &mut Vec<R>, most: usize) -> usize {
    let mut ranks: Vec<usize> = rows.iter().map(Row::rank).collect();
    ranks.sort_unstable();
    let before = rows.len();
    if let Some(first_out) = ranks.get(most) {
        rows.retain(|row| row.rank() < *first_out);
    }
    before - rows.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(n: usize) -> Vec<TableRow> {
        let row = |at: usize| TableRow {
            name: format!("T{at}"),
            // the last matter most
            rank: n - 1 - at,
            measures: Measures {
                lines: vec!["1.2 M rows, 3.4 GiB".to_owned(); 10],
            },
            evidence: Vec::new(),
        };
        (0..n).map(row).collect()
    }

    /// Rows in full, in one line, and dropped.
    fn counts(n: usize, budget: usize) -> (usize, usize, usize) {
        let mut rows = rows(n);
        let left = fit(&mut rows, budget);
        let full = rows.iter().filter(|r| r.measures.lines.len() > 1).count();
        assert_eq!(full + left.shortened, n, "each is shortened once");
        assert!(
            rows.is_sorted_by(|a, b| a.rank > b.rank),
            "their order remains"
        );
        let is_best = rows.iter().filter(|r| r.measures.lines.len() > 1);
        assert!(is_best.clone().all(|r| r.rank < full));
        (full, rows.len() - full, left.dropped)
    }

    #[test]
    fn a_larger_context_shows_more_in_full() {
        assert_eq!(counts(20, 100), (20, 0, 0), "a small job is shown whole");
        let (small, brief, dropped) = counts(500, 8_000);
        assert!(small == ALWAYS_IN_FULL && brief > 20 && dropped > 300);
        let (large, brief, dropped) = counts(500, 100_000);
        assert!(
            large > 5 * small && brief > 200,
            "{large} {brief} {dropped}"
        );
        assert_eq!(counts(500, 1_000_000), (500, 0, 0));
    }

    #[test]
    fn the_best_are_kept() {
        let mut rows = rows(30);
        assert_eq!(keep_best(&mut rows, 10), 20);
        assert!(rows.iter().all(|r| r.rank < 10) && rows.len() == 10);
        assert_eq!(keep_best(&mut rows, 10), 0);
    }
}
