//! Samples for clients that do not read frames: one message for each, as plain text or as JSON.

use std::io::Write as _;

use data_encoding::BASE64;
use slipring_wire::frame::{self, Quality, QualityStatus, Sample, ValueView};
use slipring_wire::{Packet, Properties, PropertiesBuf, PropertyId, Publish, Value, Version};

use super::{Deliver, Names};
use crate::ParameterIndex;

/// Appends a sample's value as plain text: a number, `true`, the label of an enumeration, or the
/// bytes as they are.
pub fn text(sample: &Sample<'_>, names: &dyn Names, out: &mut Vec<u8>) {
    match label(sample, names) {
        Some(label) => out.extend_from_slice(label.as_bytes()),
        None => frame::write_text(&sample.value, out),
    }
}

/// Appends a sample as JSON: `{"value":12034.5,"time":1763000000000000000,"quality":"good"}`, and
/// `why` if its quality has a reason. Bytes are base64; NaN and infinities are strings.
pub fn json(sample: &Sample<'_>, names: &dyn Names, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"value\":");
    match (&sample.value, label(sample, names)) {
        (_, Some(label)) => quoted(label, out),
        (ValueView::Text(text), None) => quoted(text, out),
        (ValueView::Bytes(bytes), None) => quoted(&BASE64.encode(bytes), out),
        (value, None) => number(value, out),
    }
    let quality = sample.quality.status().name();
    let time = sample.time_ns;
    put(out, format_args!(",\"time\":{time},\"quality\":\"{quality}\""));
    match (sample.quality.why(), sample.quality.reason()) {
        (Some(why), _) => put(out, format_args!(",\"why\":\"{why}\"")),
        (None, Quality::NONE) => {}
        (None, reason) => put(out, format_args!(",\"why\":\"{reason}\"")),
    }
    out.push(b'}');
}

fn put(out: &mut Vec<u8>, words: std::fmt::Arguments<'_>) {
    out.write_fmt(words).expect("writing to memory does not fail");
}

/// The label of a value of an enumeration.
fn label<'a>(sample: &Sample<'_>, names: &'a dyn Names) -> Option<&'a str> {
    let code = match sample.value {
        ValueView::U8(code) => code.into(),
        ValueView::U16(code) => code.into(),
        ValueView::U32(code) => code,
        _ => return None,
    };
    names.label(ParameterIndex::new(sample.index), code)
}

fn number(value: &ValueView<'_>, out: &mut Vec<u8>) {
    let finite = value.as_f64().is_some_and(f64::is_finite);
    let quote = if finite { "" } else { "\"" };
    out.extend_from_slice(quote.as_bytes());
    frame::write_text(value, out);
    out.extend_from_slice(quote.as_bytes());
}

fn quoted(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    for byte in text.bytes() {
        match byte {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
            0..0x20 | 0x7f => put(out, format_args!("\\u{byte:04x}")),
            _ => out.push(byte),
        }
    }
    out.push(b'"');
}

/// Writes samples as messages, with scratch buffers that are used again.
#[derive(Debug, Default)]
pub struct SampleWriter {
    properties: PropertiesBuf,
    payload: Vec<u8>,
    digits: String,
}

impl SampleWriter {
    /// Appends the message of a sample; false if its parameter was removed.
    pub fn write(
        &mut self,
        sample: &Sample<'_>,
        deliver: Deliver,
        identifier: u32,
        names: &dyn Names,
        out: &mut Vec<u8>,
    ) -> bool {
        let Some(topic) = names.name(ParameterIndex::new(sample.index)) else { return false };
        self.properties.clear();
        self.payload.clear();
        if deliver == Deliver::Json {
            json(sample, names, &mut self.payload);
        } else {
            text(sample, names, &mut self.payload);
            self.describe(sample.time_ns, sample.quality);
        }
        if identifier > 0 {
            let identifier = Value::Varint(identifier);
            self.properties.push(PropertyId::SubscriptionIdentifier, identifier);
        }
        let properties = self.properties.borrow();
        let publish = Publish { properties, ..Publish::new(topic, &self.payload) };
        Packet::Publish(publish).encode(Version::V5, out);
        true
    }

    /// The time and quality of a sample as user properties of its message.
    pub fn describe(&mut self, time_ns: i64, quality: Quality) -> Properties<'_> {
        self.properties.clear();
        self.number("time", time_ns);
        if quality.status() != QualityStatus::Good {
            self.pair("quality", quality.status().name());
        }
        match (quality.why(), quality.reason()) {
            (Some(why), _) => self.pair("why", why),
            (None, Quality::NONE) => {}
            (None, reason) => self.number("why", reason.into()),
        }
        self.properties.borrow()
    }

    fn number(&mut self, name: &str, number: i64) {
        use std::fmt::Write as _;
        self.digits.clear();
        write!(self.digits, "{number}").expect("writing to memory does not fail");
        let pair = Value::Pair(name, &self.digits);
        self.properties.push(PropertyId::UserProperty, pair);
    }

    fn pair(&mut self, name: &str, text: &str) {
        self.properties.push(PropertyId::UserProperty, Value::Pair(name, text));
    }
}
