//! When to retry after a transient error, like the providers' own clients.

use std::time::Duration;

use crate::transport::CallError;

/// Doubled on each retry.
const FIRST_PAUSE: Duration = Duration::from_millis(500);

/// Longest pause unless the server asks for one.
const LONGEST_PAUSE: Duration = Duration::from_secs(8);

/// Longest wait that a server may ask for; people give up on a report sooner.
pub const LONGEST_WAIT: Duration = Duration::from_secs(120);

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Next {
    Again(Duration),
    GiveUp,
}

/// Decides after failure number `attempt` (from 1). `jitter` in 0..1 shortens the pause by up to a
/// quarter, so that concurrent runs do not all retry at the same time.
pub fn after(error: &CallError, attempt: u32, retries: u32, jitter: f64) -> Next {
    let wait = match error {
        CallError::Transient { wait, .. } => wait,
        CallError::Unreadable { .. } => &None,
        _ => return Next::GiveUp,
    };
    if attempt > retries {
        return Next::GiveUp;
    }
    match wait {
        Some(wait) if *wait > LONGEST_WAIT => Next::GiveUp,
        Some(wait) => Next::Again(*wait),
        None => {
            let pause = FIRST_PAUSE
                .saturating_mul(1 << (attempt - 1).min(10))
                .min(LONGEST_PAUSE);
            Next::Again(pause.mul_f64(1.0 - 0.25 * jitter.clamp(0.0, 1.0)))
        }
    }
}

/// A number in 0..1 that differs between runs.
pub fn jitter() -> f64 {
    let nanos = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |d| d.subsec_nanos());
    f64::from(nanos % 1000) / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transient(wait: Option<u64>) -> CallError {
        CallError::Transient {
            reason: "busy".to_owned(),
            wait: wait.map(Duration::from_secs),
            had_text: false,
        }
    }

    #[test]
    fn pauses_double_up_to_eight_seconds_unless_the_server_sets_the_wait() {
        let again = |ms| Next::Again(Duration::from_millis(ms));
        for (wait, attempt, retries, jitter, expected) in [
            (None, 1, 9, 0.0, again(500)),
            (None, 2, 9, 0.0, again(1000)),
            (None, 3, 9, 0.0, again(2000)),
            (None, 4, 9, 0.0, again(4000)),
            (None, 5, 9, 0.0, again(8000)),
            (None, 6, 9, 0.0, again(8000)),
            (None, 1, 2, 1.0, again(375)),
            (None, 3, 2, 0.0, Next::GiveUp),
            (Some(30), 1, 2, 0.0, again(30_000)),
            (Some(600), 1, 2, 0.0, Next::GiveUp),
        ] {
            let next = after(&transient(wait), attempt, retries, jitter);
            assert_eq!(next, expected, "{wait:?}, attempt {attempt}");
        }
        let permanent = CallError::Permanent {
            reason: "no".to_owned(),
            hint: String::new(),
        };
        assert_eq!(after(&permanent, 1, 2, 0.0), Next::GiveUp);
    }
}
