//! The result of a run: one JSON object on one line.

use std::fmt::Write;
use std::time::Duration;

use crate::percentiles::Percentiles;

/// The fields of a result, in order.
#[derive(Default)]
pub struct RunReport {
    fields: String,
}

impl RunReport {
    pub fn number(self, name: &str, value: u64) -> Self {
        self.field(name, &value.to_string())
    }

    /// A text that needs no escapes in JSON.
    pub fn text(self, name: &str, value: &str) -> Self {
        self.field(name, &format!("\"{value}\""))
    }

    pub fn seconds(self, name: &str, value: Duration) -> Self {
        self.field(name, &format!("{:.6}", value.as_secs_f64()))
    }

    #[allow(clippy::cast_precision_loss, reason = "a rate needs no more digits")]
    pub fn rate(self, name: &str, count: u64, elapsed: Duration) -> Self {
        let rate = count as f64 / elapsed.as_secs_f64().max(1e-9);
        self.field(name, &format!("{rate:.1}"))
    }

    /// The median, the 99th percentile and the maximum.
    pub fn percentiles(self, times: &Percentiles) -> Self {
        self.microseconds("p50_us", times.per_mille(500))
            .microseconds("p99_us", times.per_mille(990))
            .microseconds("max_us", times.per_mille(1_000))
    }

    pub fn microseconds(self, name: &str, nanoseconds: u64) -> Self {
        self.field(name, &format!("{}.{:03}", nanoseconds / 1_000, nanoseconds % 1_000))
    }

    pub fn line(&self) -> String {
        format!("{{{}}}", self.fields)
    }

    pub fn print(&self) {
        println!("{}", self.line());
    }

    fn field(mut self, name: &str, value: &str) -> Self {
        let comma = if self.fields.is_empty() { "" } else { ", " };
        write!(self.fields, "{comma}\"{name}\": {value}").expect("a string takes all");
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_one_json_object() {
        let report = RunReport::default()
            .number("delivered", 12)
            .rate("per_second", 12, Duration::from_millis(500))
            .text("listening", "127.0.0.1:1")
            .microseconds("p50_us", 1_050);
        let expected =
            r#"{"delivered": 12, "per_second": 24.0, "listening": "127.0.0.1:1", "p50_us": 1.050}"#;
        assert_eq!(report.line(), expected);
    }
}
