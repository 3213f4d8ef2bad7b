//! The end of the time to read.

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

/// Stops reading at a deadline, or when the analysis is cancelled; by default never.
#[derive(Clone, Default)]
pub struct Until {
    deadline: Option<Instant>,
    cancelled: Option<Arc<dyn Fn() -> bool + Send + Sync>>,
}

/// Why reading stopped before the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Early {
    TimeIsUp,
    Cancelled,
}

impl Until {
    pub fn deadline(deadline: Option<Instant>) -> Until {
        Until {
            deadline,
            cancelled: None,
        }
    }

    pub fn or_when(self, cancelled: impl Fn() -> bool + Send + Sync + 'static) -> Until {
        Until {
            cancelled: Some(Arc::new(cancelled)),
            ..self
        }
    }

    /// The reason to stop now, if any.
    pub(crate) fn reached(&self) -> Option<Early> {
        if self.deadline.is_some_and(|at| Instant::now() >= at) {
            return Some(Early::TimeIsUp);
        }
        let cancelled = self.cancelled.as_ref().is_some_and(|cancelled| cancelled());
        cancelled.then_some(Early::Cancelled)
    }
}

impl fmt::Debug for Until {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Until")
            .field("deadline", &self.deadline)
            .finish_non_exhaustive()
    }
}
