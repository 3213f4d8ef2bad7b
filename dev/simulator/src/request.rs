//! What to simulate.

use crate::cause::Cause;
use crate::plan::Dialect;
use crate::templates::Scale;

/// Kind of job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// One cause.
    Single,
    /// Two causes.
    Two,
    /// No cause; some look bad.
    None,
    /// The deciding file is absent.
    Withheld,
    /// The job failed.
    Failed,
}

/// Which of the mechanisms of a cause (or of a near miss) may be simulated.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Mechanisms {
    /// The first of each cause, which rules were tuned on.
    #[default]
    Tuned,
    /// The others.
    HeldOut,
    /// Any.
    All,
    /// Only mechanisms with these names.
    Only(Vec<String>),
}

impl Mechanisms {
    /// Whether the mechanism of this name may be simulated; `first`: it is the first of its cause.
    pub(crate) fn allow(&self, name: &str, first: bool) -> bool {
        match self {
            Self::Tuned => first,
            Self::HeldOut => !first,
            Self::All => true,
            Self::Only(names) => names.iter().any(|n| n == name),
        }
    }
}

/// What to simulate.
#[derive(Debug, Clone)]
pub struct Request {
    /// Kind of the job.
    pub kind: Kind,
    /// Causes; must fit the kind.
    pub causes: Vec<Cause>,
    /// For [`Kind::None`]: look like this cause without being it.
    pub near_miss: Option<Cause>,
    /// Mechanisms to choose from.
    pub mechanisms: Mechanisms,
    /// Size.
    pub scale: Scale,
    /// Dialect, if it matters.
    pub dialect: Option<Dialect>,
    /// Tidy files: no truncated profile, no unrelated or missing files.
    pub tidy: bool,
    pub seed: u64,
}

impl Request {
    /// A job of the usual size with one cause.
    pub fn single(cause: Cause, seed: u64) -> Self {
        let kind = if cause.is_fatal() {
            Kind::Failed
        } else {
            Kind::Single
        };
        Self {
            kind,
            causes: vec![cause],
            near_miss: None,
            mechanisms: Mechanisms::Tuned,
            scale: Scale::Usual,
            dialect: None,
            tidy: false,
            seed,
        }
    }

    /// Whether the job fails.
    pub fn fails(&self) -> bool {
        self.causes.iter().any(|c| c.is_fatal())
    }

    /// A job without a cause.
    pub fn healthy(seed: u64) -> Self {
        Self {
            kind: Kind::None,
            causes: Vec::new(),
            near_miss: None,
            mechanisms: Mechanisms::Tuned,
            scale: Scale::Usual,
            dialect: None,
            tidy: false,
            seed,
        }
    }
}
