//! Long names as people are shown them.

/// The first bytes of a text, at most so many, with `...` behind them where there are more.
pub fn shortened(text: &str, bytes_max: usize) -> String {
    if text.len() <= bytes_max {
        return text.to_owned();
    }
    let end = (0..=bytes_max).rev().find(|end| text.is_char_boundary(*end));
    format!("{}...", &text[..end.unwrap_or_default()])
}
