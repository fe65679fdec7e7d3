//! Times on the command line: `1.5s`, `200ms`, `2m`; a bare number means seconds.

use std::time::Duration;

/// Longer times are taken for mistakes, and would overflow clocks: 100 years.
const MAX_SECONDS: f64 = 100.0 * 365.0 * 86_400.0;

/// Reads a time; suits clap's `value_parser`.
pub(crate) fn parse(text: &str) -> Result<Duration, String> {
    let unit = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(unit);
    let factor = match unit {
        "us" => 1e-6,
        "ms" => 1e-3,
        "" | "s" => 1.0,
        "m" => 60.0,
        "h" => 3_600.0,
        _ => {
            return Err(format!(
                "'{unit}' is not a unit of time: use us, ms, s, m or h"
            ));
        }
    };
    let number: f64 = number
        .parse()
        .map_err(|_| "write a number and a unit, such as 500ms or 2.5s".to_owned())?;
    let seconds = number * factor;
    if seconds > MAX_SECONDS {
        return Err("at most 100 years".to_owned());
    }
    Ok(Duration::from_secs_f64(seconds))
}

/// Reads a time that is not zero.
pub(crate) fn parse_positive(text: &str) -> Result<Duration, String> {
    match parse(text)? {
        Duration::ZERO => Err("must be more than zero".to_owned()),
        time => Ok(time),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_understood() {
        for (text, millis) in [
            ("2", 2_000),
            ("0.25s", 250),
            ("200ms", 200),
            ("1.5m", 90_000),
        ] {
            assert_eq!(parse(text), Ok(Duration::from_millis(millis)), "{text}");
        }
        assert_eq!(parse("40us"), Ok(Duration::from_micros(40)));
        assert_eq!(parse("0"), Ok(Duration::ZERO));
    }

    #[test]
    fn nonsense_is_refused() {
        for text in [
            "",
            "s",
            "-1",
            "1d",
            "1e9",
            "1.2.3",
            "99999999999h",
            "NaN",
            "inf",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
        assert!(parse_positive("0ms").is_err());
    }
}
