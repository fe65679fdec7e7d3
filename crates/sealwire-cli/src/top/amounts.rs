//! Numbers in few characters.

/// A count, or a rate in things a second: up to six characters.
pub(super) fn count(amount: f64) -> String {
    const UNITS: [&str; 6] = ["", "k", "M", "G", "T", "P"];
    if amount < 9.95 && amount.fract() != 0.0 {
        return format!("{amount:.1}");
    }
    let mut amount = amount;
    for unit in UNITS {
        // Three digits, or four where there is no unit.
        let most = if unit.is_empty() { 9_999.5 } else { 999.5 };
        if amount < most {
            return match unit {
                "" => format!("{amount:.0}"),
                _ if amount < 9.95 => format!("{amount:.1}{unit}"),
                _ => format!("{amount:.0}{unit}"),
            };
        }
        amount /= 1_000.0;
    }
    format!("{:.0}E", amount)
}

/// A time in seconds: up to five characters.
pub(super) fn time(seconds: f64) -> String {
    match seconds {
        s if s < 0.000_999_5 => format!("{:.0}us", s * 1e6),
        s if s < 0.009_95 => format!("{:.1}ms", s * 1e3),
        s if s < 0.999_5 => format!("{:.0}ms", s * 1e3),
        s if s < 9.95 => format!("{s:.1}s"),
        s if s < 120.0 => format!("{s:.0}s"),
        s if s < 7_200.0 => format!("{:.0}m", s / 60.0),
        s if s < 172_800.0 => format!("{:.0}h", s / 3_600.0),
        s => format!("{:.0}d", s / 86_400.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_six_characters_at_most() {
        for (amount, shown) in [
            (0.0, "0"),
            (0.25, "0.2"),
            (9.0, "9"),
            (12.6, "13"),
            (9_999.0, "9999"),
            (10_000.0, "10k"),
            (999_400.0, "999k"),
            (999_600.0, "1.0M"),
            (1_234_567.0, "1.2M"),
            (5e9, "5.0G"),
            (2e19, "20E"),
        ] {
            assert_eq!(count(amount), shown, "{amount}");
        }
        for power in 0..=60 {
            let amount = 2_f64.powi(power);
            assert!(count(amount).len() <= 6, "{}", count(amount));
        }
    }

    #[test]
    fn times_have_five_characters_at_most() {
        for (seconds, shown) in [
            (0.0, "0us"),
            (0.000_25, "250us"),
            (0.001_25, "1.2ms"),
            (0.25, "250ms"),
            (1.5, "1.5s"),
            (61.0, "61s"),
            (3_600.0, "60m"),
            (86_400.0, "24h"),
            (864_000.0, "10d"),
        ] {
            assert_eq!(time(seconds), shown, "{seconds}");
        }
    }
}
