//! Sizes as a person writes them: `512MB`, `1.5GiB`, or a number of bytes.

/// Why a text is not a size.
pub const SIZE_EXPECTED: &str =
    "this is not a size: write a number of bytes, or one with kB, MB, GB, TB, KiB, MiB, GiB or TiB";

const UNITS: [(&str, u64); 9] = [
    ("", 1),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
];

/// Digits before and behind the point, at most: more are no size of a memory.
const DIGITS_MAX: usize = 15;

/// The number of bytes that a text means; None if it is no size.
pub fn parse_size(text: &str) -> Option<u64> {
    let text = text.trim();
    let end = text.find(|letter: char| letter != '.' && !letter.is_ascii_digit());
    let (number, unit) = text.split_at(end.unwrap_or(text.len()));
    let unit = unit.trim_start();
    let (_, factor) = UNITS.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit))?;
    let (whole, part) = number.split_once('.').unwrap_or((number, "0"));
    let (whole, numerator) = (digits(whole)?, digits(part)?);
    let scale = 10_u128.pow(part.len() as u32);
    let bytes = (u128::from(whole) * scale + u128::from(numerator)) * u128::from(*factor) / scale;
    u64::try_from(bytes).ok()
}

fn digits(text: &str) -> Option<u64> {
    let is_short = (1..=DIGITS_MAX).contains(&text.len());
    if is_short { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_a_number_with_or_without_a_unit() {
        for (text, bytes) in [
            ("0", 0),
            ("1048576", 1 << 20),
            ("512MB", 512_000_000),
            (" 512 mb ", 512_000_000),
            ("1.5GiB", 3 << 29),
            ("0.5 KiB", 512),
            ("2TiB", 2 << 40),
        ] {
            assert_eq!(parse_size(text), Some(bytes), "{text}");
        }
    }

    #[test]
    fn what_is_no_size_is_refused() {
        let long = "9".repeat(16);
        for text in ["", "MB", "-1", "1.", ".5", "1..5", "1e9", "5 parsecs", "1_000", &long] {
            assert_eq!(parse_size(text), None, "{text}");
        }
    }
}
