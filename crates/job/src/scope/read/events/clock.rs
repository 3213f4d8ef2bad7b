//! Local times `2024-06-27 15:45:06.044 PDT` to milliseconds since 1970.

/// Parses times; caches the last minute and zone, because consecutive lines are close in time.
#[derive(Default)]
pub(super) struct Clock {
    /// `2024-06-27 15:45` as one number, which compares in one step.
    minute: u128,
    minute_ms: i64,
    /// ` PDT`
    zone: u32,
    zone_ms: i64,
}

impl Clock {
    /// Milliseconds since 1970 in UTC; local milliseconds for an unknown zone.
    pub(super) fn parse(&mut self, text: &[u8]) -> Option<i64> {
        let (minute, rest) = text.split_first_chunk::<16>()?;
        let ([colon, s1, s0, dot, m2, m1, m0], zone) = rest.split_first_chunk::<7>()?;
        if u128::from_ne_bytes(*minute) != self.minute {
            self.minute_ms = minute_ms(minute)?;
            self.minute = u128::from_ne_bytes(*minute);
        }
        let digits = [*s1, *s0, *m2, *m1, *m0].map(|d| d.wrapping_sub(b'0'));
        if *colon != b':' || *dot != b'.' || digits.iter().any(|d| *d > 9) {
            return None;
        }
        let ms = digits.iter().fold(0_i64, |n, d| n * 10 + i64::from(*d));
        Some(self.minute_ms + ms - self.zone(zone))
    }

    fn zone(&mut self, text: &[u8]) -> i64 {
        let Ok(four) = <[u8; 4]>::try_from(text) else {
            return zone_ms(text);
        };
        let zone = u32::from_ne_bytes(four);
        if zone != self.zone {
            (self.zone, self.zone_ms) = (zone, zone_ms(text));
        }
        self.zone_ms
    }
}

/// `2024-06-27 15:45`
fn minute_ms(text: &[u8]) -> Option<i64> {
    let number = |from: usize, to: usize| {
        let digits = &text[from..to];
        let value = digits.iter().map(|d| i64::from(d.wrapping_sub(b'0')));
        let whole = digits.iter().all(u8::is_ascii_digit);
        whole.then(|| value.fold(0, |n, digit| n * 10 + digit))
    };
    let marks =
        text[4] == b'-' && text[7] == b'-' && matches!(text[10], b' ' | b'T') && text[13] == b':';
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute) = (number(11, 13)?, number(14, 16)?);
    let date = jiff::civil::Date::new(year as i16, month as i8, day as i8).ok()?;
    let epoch = (jiff::Unit::Day, jiff::civil::date(1970, 1, 1));
    let days = i64::from(date.since(epoch).ok()?.get_days());
    let in_day = marks && hour < 24 && minute < 60;
    in_day.then_some((days * 24 * 60 + hour * 60 + minute) * 60_000)
}

/// Offset of the time zones in logs of the job manager: zones of the USA, and UTC.
fn zone_ms(text: &[u8]) -> i64 {
    const HOUR: i64 = 3_600_000;
    match text.trim_ascii() {
        b"PDT" | b"MST" => -7 * HOUR,
        b"PST" => -8 * HOUR,
        b"MDT" | b"CST" => -6 * HOUR,
        b"CDT" | b"EST" => -5 * HOUR,
        b"EDT" => -4 * HOUR,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_and_faults() {
        let mut clock = Clock::default();
        for (text, ms) in [
            ("2011-05-03 15:26:01.681 PDT", Some(1_304_461_561_681)),
            ("2011-05-03 15:26:01.681 UTC", Some(1_304_436_361_681)),
            ("2011-05-03 15:26:02.000", Some(1_304_436_362_000)),
            ("2011-13-03 15:26:02.000", None),
            ("2011-05-03 15:26:0x.000", None),
            ("1601-01-01 00:00:00.00", None),
            ("0000-01-01 00:00:00.000", Some(-62_167_219_200_000)),
        ] {
            assert_eq!(clock.parse(text.as_bytes()), ms, "{text}");
        }
    }
}
