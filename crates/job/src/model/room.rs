//! How much of a job is kept: every list that a file can make grow takes from its room.

use super::Job;
use crate::bounds::Kept;
use crate::problem::Problem;

impl Job {
    /// How many more of a kind may be kept.
    pub(crate) fn room_for(&self, kind: Kept) -> usize {
        self.room.left[kind as usize]
    }

    /// Takes room for `n` more of a kind from a file. Where they don't all fit, none is taken, and the
    /// first time is reported.
    pub(crate) fn keeps(&mut self, kind: Kept, n: usize, file: &str) -> bool {
        let left = &mut self.room.left[kind as usize];
        let fits = n <= *left;
        if fits {
            *left -= n;
        } else {
            self.left_out(kind, kind.most(), file);
        }
        fits
    }

    /// Shortens a list to what may still be kept of its kind.
    pub(crate) fn shorten<T>(&mut self, kind: Kept, list: &mut Vec<T>, file: &str) {
        let room = self.room_for(kind);
        if list.len() > room {
            list.truncate(room);
            self.left_out(kind, kind.most(), file);
        }
        self.room.left[kind as usize] = room - list.len();
    }

    /// Reports that those of a kind beyond the first `most` were left out, once per kind.
    pub(crate) fn left_out(&mut self, kind: Kept, most: usize, file: &str) {
        if !std::mem::replace(&mut self.room.told[kind as usize], true) {
            self.note(file, None, &Problem::LeftOut(kind, most));
        }
    }

    /// Gives back the room of what is rebuilt.
    pub(crate) fn empties(&mut self, kind: Kept) {
        self.room.left[kind as usize] = kind.most();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_left_out_and_reported_once() {
        let mut job = Job::default();
        assert!(job.keeps(Kept::Errors, 999, "a"));
        let mut more = vec![(); 5];
        job.shorten(Kept::Errors, &mut more, "b");
        assert!(!job.keeps(Kept::Errors, 1, "c"));
        assert_eq!((more.len(), job.diagnostics.len()), (1, 1));
        let message = &job.diagnostics[0].message.en;
        assert_eq!(message, "more than 1000 errors; the rest are left out");
    }
}
