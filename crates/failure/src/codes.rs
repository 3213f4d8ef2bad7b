//! Numbers and names that programs agree on: exit codes, states of HTTP and SQL, conditions of Spark.

use super::class::Class::{self, *};

/// Whether a class that a number says is the reason itself.
pub(super) type Said = (Class, bool);

/// The class of the exit code of a container, an executor or a process.
pub(super) fn exit(line: &str) -> Option<Class> {
    const BEFORE: [&str; 7] = [
        "exit code is ",
        "exit code: ",
        "exit code ",
        "exit status: ",
        "exit status ",
        "exitcode: ",
        "exited with code ",
    ];
    let line = line.to_ascii_lowercase();
    let rest = BEFORE.iter().find_map(|b| line.split_once(b))?.1;
    let sign = rest.starts_with('-');
    let digits = rest.trim_start_matches('-');
    let end = digits
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(digits.len());
    let code: i32 = digits[..end].parse().ok()?;
    let code = if sign { -code } else { code };
    Some(match code {
        // Spark's own: `ExecutorExitCode`, `SparkExitCode`
        52 => HeapFull,
        53 => Disk,
        // 128 and the signal
        137 | 9 => Overhead,
        132 | 134 | 135 | 136 | 139 => Native,
        // YARN's `ContainerExitStatus`
        -100 | -102 => Preempted,
        -101 => Disk,
        -103 => Virtual,
        -104 => Physical,
        -107..=-105 => Stopped,
        0 => return None,
        _ => Lost,
    })
}

/// The class of the status of an answer over HTTP that a line quotes.
pub(super) fn http(line: &str) -> Option<Class> {
    let bytes = line.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    for (at, _) in line.match_indices(['4', '5']) {
        if !(is_digit(at + 1) && is_digit(at + 2)) || is_digit(at + 3) {
            continue;
        }
        let (before, after) = (&line[..at], &line[at + 3..]);
        if before.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | '$'))
            || !quotes_status(before, after)
        {
            continue;
        }
        let class = match &line[at..at + 3] {
            "401" | "403" => InputForbidden,
            "404" | "410" => InputMissing,
            "409" | "412" => Conflict,
            "429" | "503" => Throttled,
            status if status.starts_with('5') => Service,
            _ => continue,
        };
        return Some(class);
    }
    None
}

/// Whether words around a number say that it is a status.
fn quotes_status(before: &str, after: &str) -> bool {
    const NAMES: &str =
        "status | status code | statuscode | http | http/1.1 | http code | response code | code";
    const REASONS: &str = "forbidden | unauthorized | not found | conflict | precondition | too many requests | \
        service unavailable | server busy | internal server error | bad gateway | gateway time | slow down";
    let before = before.to_ascii_lowercase();
    let before = before.trim_end_matches([' ', ':', '=', '"', '\'', '(', '[', '`']);
    let after = after.trim_start_matches([' ', ':', '-', '"', '(']);
    let after = after.get(..24).unwrap_or(after).to_ascii_lowercase();
    let of_azure = before.ends_with(',') && after.starts_with(", ");
    of_azure
        || NAMES.split(" | ").any(|name| {
            before.strip_suffix(name).is_some_and(|rest| {
                !rest.ends_with(|c: char| c.is_alphanumeric()) && !rest.ends_with("exit ")
            })
        })
        || REASONS.split(" | ").any(|reason| after.starts_with(reason))
}

/// The class of an SQLSTATE that a line quotes, and whether it is the reason itself: some only name the
/// operation during which something else failed.
pub(super) fn sqlstate(line: &str) -> Option<Said> {
    const NAMES: [&str; 4] = ["SQLSTATE: ", "SQLSTATE=", "SQLState: ", "sqlState: '"];
    let (at, name) = NAMES
        .iter()
        .find_map(|name| Some((line.rfind(name)?, name)))?;
    let state = line.get(at + name.len()..at + name.len() + 5)?;
    let code = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit();
    if !state.chars().all(code) {
        return None;
    }
    let class = match state {
        "42501" => InputForbidden,
        "42K03" => InputMissing,
        "42K04" | "42710" | "42P07" => OutputExists,
        "KD002" | "KD006" | "KD00B" => InputUnreadable,
        "KD000" | "KD009" | "22KD3" => InputMismatch,
        "HY008" | "XXKDA" => Stopped,
        "XXKST" => InputMismatch,
        _ => match &state[..2] {
            "07" | "0A" | "2B" | "3F" | "42" | "46" | "51" | "56" | "F0" => Compile,
            "21" if state != "21000" => Compile,
            "21" | "23" => Constraint,
            "22" => BadValue,
            "38" | "39" | "P0" => UserCode,
            "40" | "2D" => Conflict,
            "08" | "HV" => Service,
            "28" => InputForbidden,
            "53" => MemoryDenied,
            "54" => OtherLimit,
            "57" => Stopped,
            "XX" => System,
            _ => return None,
        },
    };
    let wraps = ["38", "39", "HV", "58"].contains(&&state[..2]) || state == "XXKST";
    Some((class, !wraps))
}

/// The class of a condition of Spark that begins a text, by the words in its name:
/// `[UNRESOLVED_COLUMN.WITH_SUGGESTION] …`.
pub(super) fn condition(line: &str) -> Option<Said> {
    const OF_ANALYSIS: &str = "UNRESOLVED | AMBIGUOUS | MISMATCH | NOT_FOUND | UNSUPPORTED | NOT_SUPPORTED | \
        NOT_ALLOWED | SYNTAX | MISSING | DUPLICATE | INVALID | WRONG | NON_ | UNBOUND";
    let from = line.find('[')?;
    let name = line[from + 1..].split_once("] ")?.0;
    let part = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || matches!(c, '_' | '.');
    if name.len() < 5 || !name.contains('_') || !name.chars().all(part) {
        return None;
    }
    let of_analysis = OF_ANALYSIS.split(" | ").any(|word| name.contains(word));
    match () {
        () if name.starts_with("INTERNAL_ERROR") => Some((System, true)),
        () if of_analysis => Some((Compile, false)),
        () => None,
    }
}
