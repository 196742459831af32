//! Reads the packets that subscribers were sent back into samples.

use slipring_wire::frame::{
    CONTENT_TYPE, FrameBounds, FrameView, Header, Kind, Quality, QualityStatus, parse_text,
    write_text,
};
use slipring_wire::{Packet, PacketSplit, PropertyId, Publish, Value, Version, split_packet};

use crate::world::Table;

const BOUNDS: FrameBounds = FrameBounds { samples_max: 1 << 20, raw_bytes_max: 1 << 26 };

/// A sample as it was received; the value as text.
#[derive(Clone, Debug, PartialEq)]
pub struct Received {
    pub index: u32,
    pub time_ns: i64,
    pub quality: Quality,
    pub value: String,
}

/// One message as it was received.
#[derive(Clone, Debug, PartialEq)]
pub struct Heard {
    pub topic: String,
    pub identifier: u32,
    pub bytes: usize,
    /// The header, if it is a frame.
    pub header: Option<Header>,
    pub samples: Vec<Received>,
}

/// Reads all messages in these bytes.
pub fn read(mut bytes: &[u8], table: &Table) -> Vec<Heard> {
    let mut heard = Vec::new();
    while !bytes.is_empty() {
        let Ok(PacketSplit::Whole(raw)) = split_packet(bytes, usize::MAX) else {
            panic!("half a packet");
        };
        let length = raw.length;
        let Ok(Packet::Publish(publish)) = Packet::decode(&raw, Version::V5) else {
            panic!("not a PUBLISH");
        };
        heard.push(message(&publish, length, table));
        bytes = &bytes[length..];
    }
    heard
}

fn message(publish: &Publish<'_>, bytes: usize, table: &Table) -> Heard {
    let identifier = publish.properties.number(PropertyId::SubscriptionIdentifier).unwrap_or(0);
    let topic = publish.topic.to_owned();
    if publish.properties.text(PropertyId::ContentType) != Some(CONTENT_TYPE) {
        let samples = vec![plain(publish, table)];
        return Heard { topic, identifier, bytes, header: None, samples };
    }
    let mut inflated = Vec::new();
    let view = FrameView::decode(publish.payload, &mut inflated, &BOUNDS).expect("a frame");
    let mut samples = Vec::new();
    for run in view.runs() {
        run.visit(|sample| {
            let mut value = Vec::new();
            write_text(&sample.value, &mut value);
            let value = String::from_utf8(value).unwrap();
            let (index, time_ns, quality) = (sample.index, sample.time_ns, sample.quality);
            samples.push(Received { index, time_ns, quality, value });
        });
    }
    Heard { topic, identifier, bytes, header: Some(view.header), samples }
}

fn plain(publish: &Publish<'_>, table: &Table) -> Received {
    let word = |asked: &str| {
        publish.properties.iter().find_map(|(_, value)| match value {
            Value::Pair(name, text) if name == asked => Some(text.to_owned()),
            _ => None,
        })
    };
    let index = table.index_of(publish.topic).expect("a parameter's topic");
    let value = String::from_utf8(publish.payload.to_vec()).unwrap();
    let value = match table.kind(index) {
        // A label stands for the number of an enumeration.
        Kind::U8 => parse_text(Kind::U8, publish.payload)
            .map_or_else(|_| value.strip_prefix("state ").unwrap().to_owned(), |_| value.clone()),
        _ => value,
    };
    let time_ns = word("time").expect("a time").parse().unwrap();
    let quality = quality(word("quality").as_deref(), word("why").as_deref());
    Received { index, time_ns, quality, value }
}

fn quality(status: Option<&str>, why: Option<&str>) -> Quality {
    let all = (0..=u8::MAX).map(Quality);
    let status = status.unwrap_or("good");
    let mut alike = all.filter(|quality| {
        quality.status().name() == status
            && (quality.why() == why || why == Some(&quality.reason().to_string()))
    });
    let found = alike.next().expect("a known quality");
    assert!(status != QualityStatus::Good.name() || why.is_some() || found == Quality::GOOD);
    found
}
