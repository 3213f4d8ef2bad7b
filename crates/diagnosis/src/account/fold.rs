//! Bounds the segments of a report. In a very long account the longest parts stay as they are; nearby others of one kind and finding
//! share a segment. The total of each kind and finding stays exact.

use std::mem;

use super::{Part, Span};

/// Longest account that is reported part by part.
const MOST_PARTS: usize = 2_000;
/// Parts of a longer account that keep their own segment.
const KEPT: usize = 400;
/// Stretches of the other parts; each kept part adds at most one.
const STRETCHES: usize = 100;

/// Shortens a long account.
pub(super) fn fold(parts: Vec<Part>) -> Vec<Part> {
    if parts.len() <= MOST_PARTS {
        return parts;
    }
    let mut seconds: Vec<f64> = parts.iter().map(|p| p.span.seconds()).collect();
    let (_, least, _) = seconds.select_nth_unstable_by(KEPT, |a, b| b.total_cmp(a));
    let least = *least;
    let most = parts.len().div_ceil(STRETCHES);
    let (mut folded, mut stretch) = (Vec::new(), Stretch::default());
    for part in parts {
        if part.span.seconds() > least {
            stretch.end(&mut folded);
            folded.push(part);
        } else {
            stretch.add(part);
            if stretch.parts == most {
                stretch.end(&mut folded);
            }
        }
    }
    stretch.end(&mut folded);
    folded
}

/// Neighbors that are folded together.
#[derive(Default)]
struct Stretch {
    /// Number of parts so far.
    parts: usize,
    /// One part per kind and finding, with the seconds of all of them and of the longest.
    sums: Vec<(Part, f64, f64)>,
}

impl Stretch {
    fn add(&mut self, part: Part) {
        self.parts += 1;
        let seconds = part.span.seconds();
        let key = |p: &Part| (p.kind, p.detail, p.finding);
        match self
            .sums
            .iter_mut()
            .find(|(sum, _, _)| key(sum) == key(&part))
        {
            Some((sum, all, longest)) => {
                *all += seconds;
                sum.stage = sum.stage.filter(|stage| Some(*stage) == part.stage);
                if seconds > *longest {
                    *longest = seconds;
                    sum.evidence = part.evidence;
                }
            }
            None => self.sums.push((part, seconds, seconds)),
        }
    }

    /// Lays the sums one after the other, from where the first part begins.
    fn end(&mut self, folded: &mut Vec<Part>) {
        let sums = mem::take(self).sums;
        let mut at = sums.first().map_or(0.0, |(first, _, _)| first.span.from);
        for (mut part, seconds, _) in sums {
            part.span = Span::new(at, at + seconds);
            at = part.span.to;
            folded.push(part);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use report::SegmentKind;

    use super::*;

    fn part(at: usize, seconds: f64, from: f64) -> Part {
        let kinds = [
            SegmentKind::Compute,
            SegmentKind::Driver,
            SegmentKind::Startup,
        ];
        Part {
            kind: kinds[at % 3],
            detail: None,
            stage: (at % 3 != 1).then_some(at / 3),
            span: Span::new(from, from + seconds),
            evidence: Vec::new(),
            finding: (at % 6 == 1).then_some(0),
        }
    }

    fn parts(n: usize) -> Vec<Part> {
        let mut from = 5.0;
        let of = (0..n).map(|at| {
            let seconds = 0.25 * (1 + at * 7_919 % 1_013) as f64;
            from += seconds;
            part(at, seconds, from - seconds)
        });
        of.collect()
    }

    #[test]
    fn an_ordinary_account_is_reported_part_by_part() {
        assert_eq!(fold(parts(MOST_PARTS)).len(), MOST_PARTS);
    }

    #[test]
    fn a_long_account_is_short_and_has_the_same_totals() {
        for n in [MOST_PARTS + 1, 20_000, 300_000] {
            let before = parts(n);
            let after = fold(before.clone());
            // four pairs of kind and finding
            let most = KEPT + (KEPT + STRETCHES + 1) * 4;
            assert!(after.len() <= most, "{n}: {}", after.len());
            let sums = |parts: &[Part]| {
                let mut sums: BTreeMap<String, f64> = BTreeMap::new();
                for p in parts {
                    let key = format!("{:?} {:?}", p.kind, p.finding);
                    *sums.entry(key).or_default() += p.span.seconds();
                }
                sums
            };
            for (key, seconds) in sums(&before) {
                let left = sums(&after)[&key];
                assert!((left - seconds).abs() < 1e-6 * seconds, "{n} {key}: {left}");
            }
            for pair in after.windows(2) {
                assert!((pair[0].span.to - pair[1].span.from).abs() < 1e-6, "{n}");
            }
            let longest = |parts: &[Part]| {
                let seconds = parts.iter().map(|p| p.span.seconds());
                seconds.fold(0.0, f64::max)
            };
            assert!(longest(&after) >= longest(&before));
        }
    }
}
