//! The needs of a selection, as user properties of its SUBSCRIBE (P4, P5).

/// In which form samples are delivered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Deliver {
    /// Many samples in a message, as a frame.
    Frame,
    /// A message for each sample: the value as text.
    #[default]
    Text,
    /// A message for each sample: value, time and quality as JSON.
    Json,
    /// No samples but the chunks of streams, beginning with those in the buffer.
    Stream {
        /// Begin with the next chunk, not with those in the buffer.
        newest: bool,
    },
}

/// How far a number has to move before it is sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Deadband {
    /// By more than this.
    Absolute(Band),
    /// By more than this percentage of the value sent last.
    Percent(Band),
}

/// A width: finite, not negative. Equal widths are equal bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Band(u64);

impl Band {
    /// None if it is negative or not finite.
    pub fn new(width: f64) -> Option<Self> {
        // Adding zero makes -0.0 the same as 0.0.
        (width.is_finite() && width >= 0.0).then(|| Self((width + 0.0).to_bits()))
    }

    /// The width.
    pub fn get(self) -> f64 {
        f64::from_bits(self.0)
    }
}

/// The needs of a selection. Subscribers with equal needs can share a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Needs {
    /// The form of the samples.
    pub deliver: Deliver,
    /// The newest values at most this often, in thousandths of a hertz; without it every sample.
    pub rate_mhz: Option<u32>,
    /// Only values that moved this far from the value sent last.
    pub deadband: Option<Deadband>,
    /// Only values that differ from the value sent last.
    pub change: bool,
    /// How long samples are gathered; without it the broker's own beat.
    pub beat_ms: Option<u16>,
}

const BEAT_MS_MAX: u16 = 10_000;
/// Where a reader of a stream begins.
const OLDEST: &str = "oldest";
const NEWEST: &str = "newest";
const RATES_HZ: std::ops::RangeInclusive<f64> = 0.001..=1000.0;
/// How much of a wrong value an error message repeats.
const ECHO_CHARS: usize = 40;

impl Needs {
    /// Reads the needs among a packet's user properties; None if no property is about needs.
    ///
    /// The error says which value is wrong and what is allowed.
    pub fn parse<'a>(
        properties: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Option<Self>, String> {
        let mut needs = Self::default();
        let mut seen: Vec<&str> = Vec::new();
        let mut begins = Vec::new();
        for (name, text) in properties {
            if name == "from" {
                begins.push(text);
                continue;
            }
            if !needs.take(name, text)? {
                continue;
            }
            if seen.contains(&name) {
                return Err(twice(name));
            }
            seen.push(name);
        }
        if let Deliver::Stream { newest } = &mut needs.deliver {
            if let Some(other) = seen.iter().find(|name| **name != "deliver") {
                return Err(format!("`{other}` is about parameters, not streams; leave it out"));
            }
            *newest = from_newest(&begins)?;
        }
        Ok((!seen.is_empty()).then_some(needs))
    }

    /// Whether streams are chosen, not parameters.
    pub fn is_stream(&self) -> bool {
        matches!(self.deliver, Deliver::Stream { .. })
    }

    /// Reads one property; false if it is not about needs.
    fn take(&mut self, name: &str, text: &str) -> Result<bool, String> {
        match name {
            "deliver" => self.deliver = deliver(text)?,
            "rate" => self.rate_mhz = Some(rate_mhz(text)?),
            "deadband" => self.deadband = Some(deadband(text)?),
            "change" => self.change = change(text)?,
            "beat" => self.beat_ms = Some(beat_ms(text)?),
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The user properties that mean these needs.
    pub fn properties(&self) -> Vec<(&'static str, String)> {
        let mut properties = vec![("deliver", self.deliver.name().to_owned())];
        if self.deliver == (Deliver::Stream { newest: true }) {
            properties.push(("from", NEWEST.to_owned()));
        }
        if let Some(rate) = self.rate_mhz {
            properties.push(("rate", (f64::from(rate) / 1000.0).to_string()));
        }
        if let Some(deadband) = self.deadband {
            properties.push(("deadband", deadband.to_string()));
        }
        if self.change {
            properties.push(("change", "true".to_owned()));
        }
        if let Some(beat) = self.beat_ms {
            properties.push(("beat", beat.to_string()));
        }
        properties
    }

    /// Whether samples are compared with what was sent last.
    pub fn compares(&self) -> bool {
        self.change || self.deadband.is_some()
    }
}

impl Deliver {
    /// The value of the user property.
    pub fn name(self) -> &'static str {
        match self {
            Self::Frame => "frame",
            Self::Text => "text",
            Self::Json => "json",
            Self::Stream { .. } => "stream",
        }
    }
}

impl std::fmt::Display for Deadband {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Absolute(band) => write!(f, "{}", band.get()),
            Self::Percent(band) => write!(f, "{}%", band.get()),
        }
    }
}

fn deliver(text: &str) -> Result<Deliver, String> {
    [Deliver::Frame, Deliver::Text, Deliver::Json, Deliver::Stream { newest: false }]
        .into_iter()
        .find(|form| form.name() == text)
        .ok_or_else(|| wrong("deliver", text, "`frame`, `text`, `json` or `stream`"))
}

fn from_newest(begins: &[&str]) -> Result<bool, String> {
    match *begins {
        [] | [OLDEST] => Ok(false),
        [NEWEST] => Ok(true),
        [other] => Err(wrong("from", other, "`oldest` or `newest`")),
        _ => Err(twice("from")),
    }
}

fn rate_mhz(text: &str) -> Result<u32, String> {
    match text.parse::<f64>() {
        #[expect(clippy::cast_sign_loss, reason = "the range is above 0")]
        Ok(hz) if RATES_HZ.contains(&hz) => Ok((hz * 1000.0).round() as u32),
        _ => Err(wrong("rate", text, "a number of hertz from 0.001 to 1000, like `10` or `0.5`")),
    }
}

fn deadband(text: &str) -> Result<Deadband, String> {
    let (number, percent) = text.strip_suffix('%').map_or((text, false), |number| (number, true));
    let band = number.parse().ok().and_then(Band::new);
    match (band, percent) {
        (Some(band), false) => Ok(Deadband::Absolute(band)),
        (Some(band), true) => Ok(Deadband::Percent(band)),
        (None, _) => Err(wrong("deadband", text, "a number not below 0, like `0.5`, or `2%`")),
    }
}

fn change(text: &str) -> Result<bool, String> {
    text.parse().map_err(|_| wrong("change", text, "`true` or `false`"))
}

fn beat_ms(text: &str) -> Result<u16, String> {
    text.parse()
        .ok()
        .filter(|beat| *beat <= BEAT_MS_MAX)
        .ok_or_else(|| wrong("beat", text, "whole milliseconds from 0 to 10000, like `20`"))
}

fn twice(name: &str) -> String {
    format!("`{name}` is given twice; give it once")
}

fn wrong(name: &str, text: &str, allowed: &str) -> String {
    let shown: String = text.chars().take(ECHO_CHARS).collect();
    let more = if shown.len() < text.len() { "..." } else { "" };
    format!("`{name}` is {allowed}, not `{shown}{more}`")
}

#[cfg(test)]
mod tests {
    use super::*;

    type Pairs = &'static [(&'static str, &'static str)];

    fn absolute(width: f64) -> Option<Deadband> {
        Band::new(width).map(Deadband::Absolute)
    }

    #[test]
    fn needs_are_read_from_user_properties() {
        let text = Needs::default();
        let frame = Needs { deliver: Deliver::Frame, ..text };
        let percent = Band::new(2.0).map(Deadband::Percent);
        let rows: [(Pairs, Option<Needs>); 15] = [
            (&[], None),
            (&[("colour", "red"), ("Rate", "1")], None),
            (&[("deliver", "text")], Some(text)),
            (&[("deliver", "frame"), ("colour", "red")], Some(frame)),
            (&[("deliver", "json")], Some(Needs { deliver: Deliver::Json, ..text })),
            (&[("rate", "10")], Some(Needs { rate_mhz: Some(10_000), ..text })),
            (&[("rate", "0.001")], Some(Needs { rate_mhz: Some(1), ..text })),
            (&[("rate", "1000")], Some(Needs { rate_mhz: Some(1_000_000), ..text })),
            (&[("deadband", "0.5")], Some(Needs { deadband: absolute(0.5), ..text })),
            (&[("deadband", "-0")], Some(Needs { deadband: absolute(0.0), ..text })),
            (&[("deadband", "2%")], Some(Needs { deadband: percent, ..text })),
            (&[("change", "true")], Some(Needs { change: true, ..text })),
            (&[("change", "false")], Some(text)),
            (&[("beat", "0")], Some(Needs { beat_ms: Some(0), ..text })),
            (
                &[("beat", "10000"), ("deliver", "frame")],
                Some(Needs { beat_ms: Some(10_000), ..frame }),
            ),
        ];
        for (properties, needs) in rows {
            assert_eq!(Needs::parse(properties.iter().copied()), Ok(needs), "{properties:?}");
        }
    }

    #[test]
    fn a_wrong_value_is_answered_with_what_is_allowed() {
        let rows = [
            ("deliver", "Frame", "`deliver` is `frame`, `text`, `json` or `stream`, not `Frame`"),
            ("deliver", "", "not ``"),
            ("rate", "0", "from 0.001 to 1000"),
            ("rate", "0.0009", "from 0.001 to 1000"),
            ("rate", "1000.0001", "from 0.001 to 1000"),
            ("rate", "1e9", "not `1e9`"),
            ("rate", "-1", "not `-1`"),
            ("rate", "NaN", "not `NaN`"),
            ("rate", "10 Hz", "not `10 Hz`"),
            ("deadband", "-0.5", "not below 0"),
            ("deadband", "2%%", "like `0.5`, or `2%`"),
            ("deadband", "inf%", "not `inf%`"),
            ("change", "yes", "`true` or `false`, not `yes`"),
            ("beat", "10001", "from 0 to 10000"),
            ("beat", "-1", "from 0 to 10000"),
            ("beat", "1.5", "whole milliseconds"),
        ];
        for (name, text, words) in rows {
            let error = Needs::parse([(name, text)]).unwrap_err();
            assert!(error.contains(words) && error.contains(name), "{error}");
        }
    }

    #[test]
    fn streams_are_asked_for_without_needs_of_parameters() {
        let stream = |newest| Needs { deliver: Deliver::Stream { newest }, ..Needs::default() };
        let rows: [(Pairs, Needs); 4] = [
            (&[("deliver", "stream")], stream(false)),
            (&[("deliver", "stream"), ("from", "oldest")], stream(false)),
            (&[("from", "newest"), ("deliver", "stream")], stream(true)),
            (
                &[("deliver", "json"), ("from", "me")],
                Needs { deliver: Deliver::Json, ..stream(false) },
            ),
        ];
        for (properties, needs) in rows {
            assert_eq!(Needs::parse(properties.iter().copied()), Ok(Some(needs)));
            let said = needs.properties();
            let pairs = said.iter().map(|(name, text)| (*name, text.as_str()));
            assert_eq!(Needs::parse(pairs), Ok(Some(needs)));
        }
        assert_eq!(Needs::parse([("from", "newest")]), Ok(None));
        let error = Needs::parse([("rate", "1"), ("deliver", "stream")]).unwrap_err();
        assert!(error.contains("`rate` is about parameters"), "{error}");
        let error = Needs::parse([("deliver", "stream"), ("from", "now")]).unwrap_err();
        assert!(error.contains("`oldest` or `newest`, not `now`"), "{error}");
    }

    #[test]
    fn a_need_given_twice_is_refused() {
        let error = Needs::parse([("rate", "1"), ("rate", "1")]).unwrap_err();
        assert_eq!(error, "`rate` is given twice; give it once");
        let from = ("from", "oldest");
        let error = Needs::parse([from, ("deliver", "stream"), from]).unwrap_err();
        assert_eq!(error, "`from` is given twice; give it once");
        assert!(
            Needs::parse([from, ("deliver", "text"), from]).is_ok(),
            "`from` has no meaning here"
        );
    }

    #[test]
    fn a_long_wrong_value_is_not_repeated_whole() {
        let error = Needs::parse([("rate", "é".repeat(60_000).as_str())]).unwrap_err();
        assert!(error.len() < 250 && error.ends_with("é...`"), "{error}");
    }

    #[test]
    fn needs_written_as_properties_are_read_as_the_same_needs() {
        let deadband = [None, absolute(0.1), Band::new(1e-300).map(Deadband::Percent)];
        for (deadband, rate_mhz) in deadband.into_iter().zip([None, Some(1), Some(999_999)]) {
            for deliver in [Deliver::Frame, Deliver::Text, Deliver::Json] {
                let needs = Needs {
                    deliver,
                    rate_mhz,
                    deadband,
                    change: rate_mhz.is_some(),
                    beat_ms: rate_mhz.map(|_| 7),
                };
                let properties = needs.properties();
                let pairs = properties.iter().map(|(name, text)| (*name, text.as_str()));
                assert_eq!(Needs::parse(pairs), Ok(Some(needs)));
            }
        }
    }
}
