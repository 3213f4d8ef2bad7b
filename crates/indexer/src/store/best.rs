//! The top k of a stream of scores.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// A score and its key; among equal scores the smaller key is better.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scored<K>(pub(crate) f32, pub(crate) K);

impl<K: Ord> Eq for Scored<K> {}

impl<K: Ord> Ord for Scored<K> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0).then(other.1.cmp(&self.1))
    }
}

impl<K: Ord> PartialOrd for Scored<K> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The `depth` best, the worst of them on top of the heap.
pub(crate) struct Best<K> {
    depth: usize,
    heap: BinaryHeap<Reverse<Scored<K>>>,
}

impl<K: Ord> Best<K> {
    pub(crate) fn new(depth: usize) -> Self {
        Best {
            depth,
            heap: BinaryHeap::with_capacity(depth + 1),
        }
    }

    pub(crate) fn offer(&mut self, new: Scored<K>) {
        if self.heap.len() < self.depth {
            self.heap.push(Reverse(new));
        } else if self.heap.peek().is_some_and(|worst| new > worst.0) {
            self.heap.pop();
            self.heap.push(Reverse(new));
        }
    }

    /// The score that a newcomer has to beat; `None` while there is room.
    pub(crate) fn bound(&self) -> Option<f32> {
        let full = self.heap.len() >= self.depth;
        self.heap.peek().filter(|_| full).map(|worst| worst.0.0)
    }

    /// In no particular order.
    pub(crate) fn into_keys(self) -> impl Iterator<Item = K> {
        self.heap.into_iter().map(|Reverse(scored)| scored.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_are_kept_and_ties_go_to_the_first() {
        let mut best = Best::new(2);
        for (score, key) in [(0.5, 3), (0.9, 2), (0.5, 1), (0.1, 0)] {
            best.offer(Scored(score, key));
        }
        assert_eq!(best.bound(), Some(0.5));
        let mut keys: Vec<i32> = best.into_keys().collect();
        keys.sort_unstable();
        assert_eq!(keys, [1, 2]);
    }
}
