//! Durations and sizes.

/// Seconds as a person says them: `3.2 s`, `12 min 5 s`, `3 h 20 min`.
pub(crate) fn duration(seconds: f64) -> String {
    let whole = seconds.round() as i64;
    match whole {
        ..60 => format!("{seconds:.1} s"),
        60..3600 => format!("{} min {} s", whole / 60, whole % 60),
        _ => format!("{} h {} min", whole / 3600, whole % 3600 / 60),
    }
}

/// Bytes as a person says them, in powers of 1,024.
pub(crate) fn bytes(value: f64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let steps = (0..UNITS.len() - 1)
        .take_while(|i| value >= 1024_f64.powi(*i as i32 + 1))
        .count();
    let digits = usize::from(steps > 0);
    format!(
        "{:.digits$} {}",
        value / 1024_f64.powi(steps as i32),
        UNITS[steps]
    )
}
