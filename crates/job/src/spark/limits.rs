//! Limits of a log's details, and the time spans of the forgotten ones.

/// Maximum number of intervals.
const MOST_SPANS: usize = 200_000;

/// Limits of what is kept of a log.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Stage attempts, jobs and SQL executions, each. The cheapest are forgotten at a quarter more, to sort them rarely.
    pub(super) things: usize,
    /// Bytes of details.
    pub(super) bytes: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            things: 40_000,
            bytes: 64 << 20,
        }
    }
}

/// Time spans of forgotten stages, jobs and executions.
#[derive(Debug, Default)]
pub(super) struct Forgotten {
    pub(super) stages: Spans,
    /// Jobs and executions.
    pub(super) actions: Spans,
    /// Whether most stages, jobs and executions are open, so that new ones have no room.
    pub(super) all_open: [bool; 3],
}

/// Intervals in milliseconds.
#[derive(Debug, Default)]
pub(super) struct Spans(Vec<(i64, i64)>);

impl Spans {
    pub(super) fn add(&mut self, from: Option<i64>, to: Option<i64>) {
        self.0.extend(from.zip(to).filter(|(from, to)| from < to));
    }

    /// Merges overlapping intervals. If there are too many, also merges close ones.
    pub(super) fn unite(&mut self) {
        let mut gap = 0;
        loop {
            self.0.sort_unstable();
            self.0.dedup_by(|next, before| {
                let joined = next.0 <= before.1 + gap;
                if joined {
                    before.1 = before.1.max(next.1);
                }
                joined
            });
            if self.0.len() <= MOST_SPANS {
                return;
            }
            gap = 1 + 2 * gap;
        }
    }

    pub(super) fn take(&mut self) -> Vec<(i64, i64)> {
        self.unite();
        std::mem::take(&mut self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_united_until_they_are_few() {
        let mut spans = Spans::default();
        for n in 0..1_000_000 {
            spans.add(Some(n * 10), Some(n * 10 + 5));
        }
        spans.add(None, Some(3));
        let united = spans.take();
        assert!(united.len() <= MOST_SPANS, "{}", united.len());
        assert_eq!((united[0].0, united[united.len() - 1].1), (0, 9_999_995));
        let mut few = Spans::default();
        few.add(Some(4), Some(9));
        few.add(Some(1), Some(4));
        few.add(Some(20), Some(30));
        assert_eq!(few.take(), [(1, 9), (20, 30)]);
    }
}
