//! The time that some intervals cover together.

/// Disjoint intervals, ascending, in seconds.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Cover(Vec<(f64, f64)>);

impl Cover {
    /// The union of intervals. `O(n log n)`.
    pub fn of(intervals: impl Iterator<Item = (f64, f64)>) -> Cover {
        let mut sorted: Vec<(f64, f64)> = intervals.filter(|(from, to)| to > from).collect();
        sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut merged: Vec<(f64, f64)> = Vec::new();
        for (from, to) in sorted {
            match merged.last_mut() {
                Some(last) if from <= last.1 => last.1 = last.1.max(to),
                _ => merged.push((from, to)),
            }
        }
        Cover(merged)
    }

    /// Seconds between two points in time that are covered.
    pub fn within(&self, from: f64, to: f64) -> f64 {
        let first = self.0.partition_point(|(_, end)| *end <= from);
        let inside = self.0[first..].iter().take_while(|(start, _)| *start < to);
        inside.map(|(a, b)| b.min(to) - a.max(from)).sum()
    }

    /// The covered intervals between two points in time, cut off there.
    pub fn inside(&self, from: f64, to: f64) -> Vec<(f64, f64)> {
        let first = self.0.partition_point(|(_, end)| *end <= from);
        let inside = self.0[first..].iter().take_while(|(start, _)| *start < to);
        inside.map(|(a, b)| (a.max(from), b.min(to))).collect()
    }

    /// Whether some of the time between two points is covered.
    pub fn touches(&self, from: f64, to: f64) -> bool {
        let first = self.0.partition_point(|(_, end)| *end <= from);
        self.0.get(first).is_some_and(|(start, _)| *start < to)
    }

    /// Lengths of the gaps between the intervals.
    pub fn gaps(&self) -> impl Iterator<Item = f64> + '_ {
        self.0.windows(2).map(|pair| pair[1].0 - pair[0].1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_intervals_count_once() {
        let cover = Cover::of([(5.0, 9.0), (0.0, 2.0), (1.0, 3.0), (4.0, 4.0)].into_iter());
        assert_eq!(cover.within(0.0, 10.0), 7.0);
        assert_eq!(cover.within(2.5, 6.0), 1.5);
        assert_eq!(cover.inside(2.5, 6.0), [(2.5, 3.0), (5.0, 6.0)]);
        assert_eq!(cover.inside(3.0, 5.0), []);
        assert_eq!(
            [cover.touches(3.0, 5.0), cover.touches(8.0, 20.0)],
            [false, true]
        );
        assert_eq!(cover.gaps().collect::<Vec<_>>(), [2.0]);
    }
}
