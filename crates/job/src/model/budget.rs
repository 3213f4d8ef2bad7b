//! The budget of a job: every list that a file can make grow draws on a quota.

use super::Job;
use crate::bounds::Quota;
use crate::problem::Problem;

impl Job {
    /// Remaining number of items of a kind.
    pub(crate) fn room_for(&self, kind: Quota) -> usize {
        self.budget.left[kind as usize]
    }

    /// Takes `n` items of a kind from the quota. If they don't all fit, none is taken; the first overrun
    /// is reported.
    pub(crate) fn keeps(&mut self, kind: Quota, n: usize, file: &str) -> bool {
        let left = &mut self.budget.left[kind as usize];
        let fits = n <= *left;
        if fits {
            *left -= n;
        } else {
            self.left_out(kind, kind.most(), file);
        }
        fits
    }

    /// Cuts a list to the remaining quota of its kind.
    pub(crate) fn shorten<T>(&mut self, kind: Quota, list: &mut Vec<T>, file: &str) {
        let room = self.room_for(kind);
        if list.len() > room {
            list.truncate(room);
            self.left_out(kind, kind.most(), file);
        }
        self.budget.left[kind as usize] = room - list.len();
    }

    /// Reports once per kind that all items beyond the first `most` were left out.
    pub(crate) fn left_out(&mut self, kind: Quota, most: usize, file: &str) {
        if !std::mem::replace(&mut self.budget.reported[kind as usize], true) {
            self.note(file, None, &Problem::LeftOut(kind, most));
        }
    }

    /// Restores the whole quota of a kind before its list is rebuilt.
    pub(crate) fn empties(&mut self, kind: Quota) {
        self.budget.left[kind as usize] = kind.most();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_left_out_and_reported_once() {
        let mut job = Job::default();
        assert!(job.keeps(Quota::Errors, 999, "a"));
        let mut more = vec![(); 5];
        job.shorten(Quota::Errors, &mut more, "b");
        assert!(!job.keeps(Quota::Errors, 1, "c"));
        assert_eq!((more.len(), job.diagnostics.len()), (1, 1));
        let message = &job.diagnostics[0].message.en;
        assert_eq!(message, "more than 1000 errors; the rest are left out");
    }
}
