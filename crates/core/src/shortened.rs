//! Shortens long names for people.

/// The text, or its first `bytes_max` bytes and `...` if it is longer.
pub fn shortened(text: &str, bytes_max: usize) -> String {
    if text.len() <= bytes_max {
        return text.to_owned();
    }
    let end = (0..=bytes_max).rev().find(|end| text.is_char_boundary(*end));
    format!("{}...", &text[..end.unwrap_or_default()])
}
