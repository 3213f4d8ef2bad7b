//! Findings that one change would fix: the same cause, in the same script, in stages that do the same.

/// Properties that all findings of a cluster share.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClusterKey {
    /// Code of the cause.
    pub cause: &'static str,
    /// Identity of their scripts.
    pub script: Option<String>,
    /// Role of the stage: its name without its number.
    pub role: Option<String>,
}

impl ClusterKey {
    /// A name for objects and tables: 32 hexadecimal digits.
    pub fn id(&self) -> String {
        let parts = [
            Some(self.cause),
            self.script.as_deref(),
            self.role.as_deref(),
        ];
        let mut id = crate::result::hash(parts.map(Option::unwrap_or_default));
        id.truncate(32);
        id
    }
}

/// Identity of a job's script: the hash of its shape, otherwise the job's name without numbers. `None` if neither is known.
pub(crate) fn script_of(shape: Option<&str>, name: Option<&str>) -> Option<String> {
    // no hash is as long as this
    let named = |name: &str| format!("name of a job: {}", without_numbers(name));
    shape.map(str::to_owned).or_else(|| name.map(named))
}

/// `Daily_#` of `Daily_20260112`.
pub(crate) fn without_numbers(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for c in name.chars() {
        match c.is_ascii_digit() || (c == '#' && out.ends_with('#')) {
            true if out.ends_with('#') => {}
            true => out.push('#'),
            false => out.push(c),
        }
    }
    out
}
