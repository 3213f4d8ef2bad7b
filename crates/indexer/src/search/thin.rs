//! Penalizes near-duplicates: maximal marginal relevance, but only where two chunks say nearly the same, so that the
//! order of different chunks stays.

/// From this cosine on, two chunks are near-duplicates; below, they are similar because both are relevant.
const NEAR: f32 = 0.9;

/// Chunks of one subject without a penalty: a reader opens the document anyway.
const PER_SUBJECT: usize = 2;

/// Picks `k` of `scores` (sorted, best first) and returns their positions. Each pick lowers the score of similar chunks
/// by up to `diversity` times the best score, and so does a subject that has its share.
pub(crate) fn thin(
    scores: &[f32],
    k: usize,
    diversity: f32,
    subjects: &[&str],
    similarity: impl Fn(usize, usize) -> f32,
) -> Vec<usize> {
    let Some(&best) = scores.first() else {
        return Vec::new();
    };
    if diversity <= 0.0 {
        return (0..scores.len().min(k)).collect();
    }
    let mut penalty = vec![0.0_f32; scores.len()];
    let mut left: Vec<usize> = (0..scores.len()).collect();
    let mut out = Vec::with_capacity(k.min(scores.len()));
    while out.len() < k && !left.is_empty() {
        let mut place = 0;
        for candidate in 1..left.len() {
            let worth = |at: usize| scores[left[at]] - penalty[left[at]];
            if worth(candidate) > worth(place) {
                place = candidate;
            }
        }
        let picked = left.remove(place);
        out.push(picked);
        let same = |other: usize| subjects[other] == subjects[picked];
        let full = out.iter().filter(|&&at| same(at)).count() >= PER_SUBJECT;
        for &other in &left {
            let likeness = (similarity(picked, other) - NEAR) / (1.0 - NEAR);
            let lowered = diversity * best * likeness.clamp(0.0, 1.0);
            let crowded = match full && same(other) {
                true => diversity * best,
                false => 0.0,
            };
            penalty[other] = penalty[other].max(lowered).max(crowded);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::thin;

    #[test]
    fn a_duplicate_makes_room_and_the_rest_keeps_its_order() {
        let same = |a: usize, b: usize| if a + b == 1 { 1.0 } else { 0.5 };
        let subjects = ["a", "b", "c"];
        assert_eq!(thin(&[1.0, 0.99, 0.9], 3, 0.2, &subjects, same), [0, 2, 1]);
        assert_eq!(thin(&[1.0, 0.99, 0.9], 2, 0.0, &subjects, same), [0, 1]);
        assert_eq!(thin(&[1.0, 0.9], 5, 0.2, &subjects, |_, _| 0.5), [0, 1]);
        assert!(thin(&[], 5, 0.2, &[], same).is_empty());
    }

    #[test]
    fn a_subject_does_not_fill_the_list() {
        let subjects = ["a", "a", "a", "b"];
        let order = thin(&[1.0, 0.95, 0.9, 0.8], 4, 0.2, &subjects, |_, _| 0.0);
        assert_eq!(order, [0, 1, 3, 2]);
    }
}
