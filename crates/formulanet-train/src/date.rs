//! Dates and times, by UTC.

use std::time::{SystemTime, UNIX_EPOCH};

/// Today, as `2026-11-17`.
pub fn today() -> String {
    now().split('T').next().unwrap_or_default().to_owned()
}

/// The time, as `2026-11-17T15:02:06Z`.
pub fn now() -> String {
    time(SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs()))
}

/// A time in seconds since 1970.
fn time(seconds: u64) -> String {
    let ((year, month, day), second) = (date(seconds / 86_400), seconds % 86_400);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// The date this many days after 1 January 1970, in the Gregorian calendar.
fn date(days: u64) -> (u64, u64, u64) {
    // Years begin in March here, so that the day that some years have more is their last. Day 719,468 of that count is 1970.
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (400 * era + year_of_era + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_dates() {
        let check = |seconds: u64, expected: &str| assert_eq!(time(seconds), expected);
        check(0, "1970-01-01T00:00:00Z");
        check(951_782_400, "2000-02-29T00:00:00Z");
        check(1_794_927_726, "2026-11-17T15:02:06Z");
        check(4_107_542_399, "2100-02-28T23:59:59Z");
        check(4_107_542_400, "2100-03-01T00:00:00Z");
    }

    #[test]
    fn dates() {
        let check = |days: u64, expected: (u64, u64, u64)| assert_eq!(date(days), expected, "{days}");
        check(0, (1970, 1, 1));
        check(58, (1970, 2, 28));
        check(59, (1970, 3, 1));
        check(11_016, (2000, 2, 29));
        check(11_017, (2000, 3, 1));
        check(20_774, (2026, 11, 17));
        check(47_540, (2100, 2, 28));
        check(47_541, (2100, 3, 1));
    }
}
