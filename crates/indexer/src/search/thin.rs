//! Penalizes near-duplicates: maximal marginal relevance, but only where two chunks say nearly the same, so that the
//! order of different chunks stays.

use super::fuse::Candidate;

/// From this cosine on, two chunks are near-duplicates; below, they are similar because both are relevant.
const NEAR: f32 = 0.9;

/// Chunks of one subject without a penalty: a reader opens the document anyway.
const PER_SUBJECT: usize = 2;

/// Malus for the second chunk of a subject, relative to the best score: another page that fits as well says more. Of 0 to .1, .1 found most
/// among the first three on the tuning judgments.
pub(crate) const SECOND: f32 = 0.1;

/// Picks `k` of `items` (sorted, best first) and returns their positions with their scores, which fall from pick to pick. Each pick lowers
/// the score of similar chunks by up to `diversity` times the best score, and so does a subject that has its share. The translation of a
/// page in the list is lowered like a duplicate. `second` is [`SECOND`], or 0 for a caller that wants all of a page.
pub(crate) fn thin(
    items: &[Candidate],
    k: usize,
    (diversity, second): (f32, f32),
    similarity: impl Fn(usize, usize) -> f32,
) -> Vec<(usize, f32)> {
    let Some(best) = items.first().map(|item| item.score) else {
        return Vec::new();
    };
    if diversity <= 0.0 {
        let scores = items.iter().map(|item| item.score);
        return scores.enumerate().take(k).collect();
    }
    let mut penalty = vec![0.0_f32; items.len()];
    let mut left: Vec<usize> = (0..items.len()).collect();
    let mut out = Vec::with_capacity(k.min(items.len()));
    while out.len() < k && !left.is_empty() {
        let mut place = 0;
        let worth = |at: usize| items[at].score - penalty[at];
        for candidate in 1..left.len() {
            if worth(left[candidate]) > worth(left[place]) {
                place = candidate;
            }
        }
        let at = left.remove(place);
        out.push((at, worth(at)));
        let picked = &items[at];
        let same = |other: usize| items[other].subject() == picked.subject();
        let full = out.iter().filter(|(at, _)| same(*at)).count() >= PER_SUBJECT;
        for &other in &left {
            let likeness = (similarity(at, other) - NEAR) / (1.0 - NEAR);
            let mut lowered = diversity * best * likeness.clamp(0.0, 1.0);
            if same(other) {
                let is_translation = picked.is_readable && !items[other].is_readable;
                let share = match full || is_translation {
                    true => diversity,
                    false => diversity.min(second),
                };
                lowered = lowered.max(share * best);
            }
            penalty[other] = penalty[other].max(lowered);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::manifest::Ordinal;

    fn item(score: f32, page: &str) -> Candidate {
        Candidate {
            score,
            id: format!("{page}.md#fix"),
            ..Candidate::new(Ordinal::new(0, 0))
        }
    }

    fn order(
        items: &[Candidate],
        k: usize,
        similarity: impl Fn(usize, usize) -> f32,
    ) -> Vec<usize> {
        let picked = thin(items, k, (0.2, SECOND), similarity);
        let scores: Vec<f32> = picked.iter().map(|(_, score)| *score).collect();
        assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
        picked.into_iter().map(|(at, _)| at).collect()
    }

    #[test]
    fn a_duplicate_makes_room_and_the_rest_keeps_its_order() {
        let same = |a: usize, b: usize| if a + b == 1 { 1.0 } else { 0.5 };
        let items = [item(1.0, "a"), item(0.99, "b"), item(0.9, "c")];
        assert_eq!(order(&items, 3, same), [0, 2, 1]);
        assert_eq!(thin(&items, 2, (0.0, SECOND), same), [(0, 1.0), (1, 0.99)]);
        assert_eq!(order(&items, 5, |_, _| 0.5), [0, 1, 2]);
        assert!(order(&[], 5, same).is_empty());
    }

    #[test]
    fn a_subject_does_not_fill_the_list() {
        let items = [
            item(1.0, "a"),
            item(0.95, "a"),
            item(0.9, "a"),
            item(0.8, "b"),
        ];
        assert_eq!(order(&items, 4, |_, _| 0.0), [0, 1, 3, 2]);
    }

    #[test]
    fn another_page_that_fits_comes_before_more_of_the_first() {
        let items = [item(1.0, "a"), item(0.98, "a"), item(0.95, "b")];
        assert_eq!(order(&items, 3, |_, _| 0.0), [0, 2, 1]);
    }

    #[test]
    fn a_translation_makes_room() {
        let translation = Candidate {
            is_readable: false,
            ..item(0.99, "a")
        };
        let items = [item(1.0, "a"), translation, item(0.85, "b")];
        assert_eq!(order(&items, 3, |_, _| 0.0), [0, 2, 1]);
    }
}
