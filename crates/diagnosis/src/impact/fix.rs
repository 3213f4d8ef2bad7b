//! Fixes: changes to the work of a run that remove a cause.

use std::fmt;
use std::sync::Arc;

use super::StageWork;

type Edit = dyn Fn(&mut Vec<StageWork>) + Send + Sync;

type StageEdit = dyn Fn(&mut StageWork) + Send + Sync;

/// Effect of fixing a cause. Shared, so that fixes can be replayed alone and together.
#[derive(Clone)]
pub enum Fix {
    /// Changes the work of stages.
    Work(Arc<Edit>),
    /// Changes the work of the stage with this index.
    Stage(usize, Arc<StageEdit>),
    /// The job no longer waits for capacity; its work stays.
    Capacity,
    /// The same work on this many tokens.
    Tokens(usize),
}

impl Fix {
    pub fn work(edit: impl Fn(&mut Vec<StageWork>) + Send + Sync + 'static) -> Fix {
        Fix::Work(Arc::new(edit))
    }

    pub fn stage(stage: usize, edit: impl Fn(&mut StageWork) + Send + Sync + 'static) -> Fix {
        Fix::Stage(stage, Arc::new(edit))
    }

    /// Whether the replayed run changes.
    pub fn is_replayed(&self) -> bool {
        !matches!(self, Fix::Capacity)
    }

    pub fn tokens(&self, before: usize) -> usize {
        match self {
            Fix::Tokens(tokens) => *tokens,
            _ => before,
        }
    }

    /// Applies the fix to the work that earlier fixes left.
    pub fn apply(&self, stages: &mut Vec<StageWork>) {
        match self {
            Fix::Work(edit) => edit(stages),
            Fix::Stage(stage, edit) => edit(&mut stages[*stage]),
            Fix::Capacity | Fix::Tokens(_) => {}
        }
    }
}

impl fmt::Debug for Fix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Fix::Work(_) => "Work",
            Fix::Stage(..) => "Stage",
            Fix::Capacity => "Capacity",
            Fix::Tokens(_) => "Tokens",
        })
    }
}
