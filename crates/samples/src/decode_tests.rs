//! Every kind, layout and quality decodes to the rows that the frame describes.

use proptest::prelude::*;
use slipring_journal::{BytesColumn, MessageColumns};
use slipring_wire::frame::{
    CONTENT_TYPE, FrameBuf, Header, Kind, OwnedValue, Qualities, Quality, Sample,
};
use slipring_wire::{PropertiesBuf, PropertyId, Value};

use super::*;

const TABLE: u32 = 7;
const ROWS_MAX: usize = 1 << 20;

/// Three parameters of each kind, from ten times its code on; the enumerations are 140, 150 and 160.
fn parameters() -> KnownParameters {
    let plain = Kind::ALL.into_iter().flat_map(|kind| {
        let first = u32::from(kind.code()) * 10;
        (first..first + 3).map(move |index| {
            format!(r#"{{"index": {index}, "name": "p/{index}", "type": "{kind}"}}"#)
        })
    });
    let labels = [("0", 140), ("300", 150), ("70000", 160)].map(|(number, index)| {
        format!(
            r#"{{"index": {index}, "name": "p/{index}", "type": "enum",
                "labels": {{"1": "up", "{number}": "down"}}}}"#
        )
    });
    let all: Vec<String> = plain.chain(labels).collect();
    let text = format!(r#"{{"table": {TABLE}, "versions": [{}]}}"#, all.join(","));
    KnownParameters::from_json(&text).unwrap()
}

fn decoder(selection: SampleSelection) -> SampleDecoder {
    SampleDecoder::new(parameters(), selection, WantedColumns::ALL, ROWS_MAX)
}

fn push(column: &mut BytesColumn, value: &[u8]) {
    column.data.extend_from_slice(value);
    column.ends.push(column.data.len() as i32);
}

/// Messages from the offset 100 on, each received at 1,000 times its offset.
fn messages(all: &[(&str, &[u8], bool)]) -> MessageColumns {
    let mut frame = PropertiesBuf::new();
    frame.push(PropertyId::ContentType, Value::Text(CONTENT_TYPE));
    let mut columns = MessageColumns::default();
    for (offset, (topic, payload, is_frame)) in (100..).zip(all) {
        columns.offset.push(offset);
        columns.receive_ns.push(offset * 1_000);
        push(&mut columns.topic, topic.as_bytes());
        push(&mut columns.payload, payload);
        let properties = if *is_frame { frame.borrow().encoded() } else { &[] };
        push(&mut columns.properties, properties);
    }
    columns
}

fn frame_of(fill: impl FnOnce(&mut FrameBuf), deflate: bool) -> Vec<u8> {
    let (mut frame, mut out) = (FrameBuf::new(), Vec::new());
    fill(&mut frame);
    frame.finish(&Header { table: TABLE, ..Header::default() }, deflate, &mut out);
    out
}

fn frame(kind: Kind, samples: &[(u32, i64, OwnedValue)]) -> Vec<u8> {
    let mut samples: Vec<_> =
        samples.iter().map(|(at, ns, value)| sample(*at, *ns, value)).collect();
    frame_of(|frame| frame.push_samples(kind, &mut samples).unwrap(), false)
}

fn sample(index: u32, time_ns: i64, value: &OwnedValue) -> Sample<'_> {
    Sample { index, time_ns, quality: Quality::GOOD, value: value.view() }
}

fn decoded(payload: &[u8], selection: SampleSelection) -> (Vec<Row>, Vec<Flaw>) {
    let mut decoder = decoder(selection);
    let messages = messages(&[("t", payload, true)]);
    let end = decoder.decode(&messages, &[], 0, true);
    assert_eq!(end, Decoded { at: 1, is_unknown: false });
    let columns = decoder.take();
    assert!(columns.offset.iter().all(|offset| *offset == 100));
    assert!(columns.receive_ns.iter().all(|time| *time == 100_000));
    (rows(&columns), decoder.take_flaws())
}

/// Everything, but asked for one by one: the way of a run that is not taken as a whole.
fn each() -> SampleSelection {
    SampleSelection { parameters: Some(vec![true; 200]), source_ns: None }
}

/// A row as people read it: index, source time, quality, value, exact integer, text, bytes.
type Row = (i32, i64, i16, Option<f64>, Option<i128>, Option<String>, Option<Vec<u8>>);

fn rows(columns: &SampleColumns) -> Vec<Row> {
    (0..columns.len())
        .map(|row| {
            let text = columns.text.get(row).map(|text| String::from_utf8(text.to_vec()).unwrap());
            let (value, integer) = (columns.value.get(row), columns.integer.get(row));
            let bytes = columns.bytes.get(row).map(<[u8]>::to_vec);
            let (index, quality) = (columns.index[row], columns.quality[row]);
            (index, columns.source_ns[row], quality, value, integer, text, bytes)
        })
        .collect()
}

fn number(index: i32, source_ns: i64, value: f64) -> Row {
    (index, source_ns, 0, Some(value), None, None, None)
}

#[test]
fn each_kind_has_its_columns() {
    let one = |kind, value| {
        let index = u32::from(Kind::code(kind)) * 10;
        let payload = frame(kind, &[(index, 5, value)]);
        let whole = decoded(&payload, SampleSelection::default());
        assert_eq!(whole, decoded(&payload, each()), "{kind}");
        assert_eq!(whole.1, []);
        let (found, _, _, value, integer, text, bytes) = whole.0[0].clone();
        assert_eq!(found, index as i32);
        (value, integer, text, bytes)
    };
    let plain = |value| (Some(value), None, None, None);
    assert_eq!(one(Kind::Bool, OwnedValue::Bool(true)), plain(1.0));
    assert_eq!(one(Kind::U8, OwnedValue::U8(255)), plain(255.0));
    assert_eq!(one(Kind::U32, OwnedValue::U32(u32::MAX)), plain(4_294_967_295.0));
    assert_eq!(one(Kind::I16, OwnedValue::I16(-7)), plain(-7.0));
    assert_eq!(one(Kind::F32, OwnedValue::F32(0.1)), plain(f64::from(0.1_f32)));
    let greatest = (Some(u64::MAX as f64), Some(u64::MAX.into()), None, None);
    assert_eq!(one(Kind::U64, OwnedValue::U64(u64::MAX)), greatest);
    let least = (Some(i64::MIN as f64), Some(i64::MIN.into()), None, None);
    assert_eq!(one(Kind::I64, OwnedValue::I64(i64::MIN)), least);
    let text = (None, None, Some("ä".to_owned()), None);
    assert_eq!(one(Kind::Text, OwnedValue::Text("ä".to_owned())), text);
    let bytes = (None, None, None, Some(vec![0, 255]));
    assert_eq!(one(Kind::Bytes, OwnedValue::Bytes(vec![0, 255])), bytes);
}

#[test]
fn an_enumeration_has_its_label_as_text() {
    let rows = [
        frame(Kind::U8, &[(140, 1, OwnedValue::U8(0)), (20, 1, OwnedValue::U8(0))]),
        frame(Kind::U16, &[(150, 1, OwnedValue::U16(300))]),
        frame(Kind::U32, &[(160, 1, OwnedValue::U32(9))]),
    ];
    let texts = rows.map(|payload| {
        let found = decoded(&payload, SampleSelection::default());
        assert_eq!(found, decoded(&payload, each()));
        found.0.into_iter().map(|row| row.5).collect::<Vec<_>>()
    });
    let down = Some("down".to_owned());
    assert_eq!(texts, [vec![None, down.clone()], vec![down], vec![None]], "9 has no label");
}

#[test]
fn a_grid_of_truths_begins_each_row_with_a_new_byte() {
    let fill = |frame: &mut FrameBuf| {
        let all = Qualities::All(Quality(0x85));
        let parameters = std::slice::from_ref(&(10..13));
        frame.push_grid(Kind::Bool, parameters, &[1, 2], all, &[0b101, 0b010]).unwrap();
    };
    let (found, _) = decoded(&frame_of(fill, false), SampleSelection::default());
    let row = |index, time, value| (index, time, 0x85, Some(value), None, None, None);
    let first = [row(10, 1, 1.0), row(11, 1, 0.0), row(12, 1, 1.0)];
    let second = [row(10, 2, 0.0), row(11, 2, 1.0), row(12, 2, 0.0)];
    assert_eq!(found, [first, second].concat());
}

#[test]
fn only_what_is_asked_for_is_decoded() {
    let all: Vec<_> = [(110, 1), (110, 5), (111, 5), (112, 9)]
        .map(|(index, time)| (index, time, OwnedValue::F64(time as f64)))
        .into();
    let payload = frame(Kind::F64, &all);
    let mut asked = vec![false; 112];
    asked[110] = true;
    asked[111] = true;
    let selection = SampleSelection { parameters: Some(asked), source_ns: Some(5..9) };
    let (found, flaws) = decoded(&payload, selection);
    assert_eq!(found, [number(110, 5, 5.0), number(111, 5, 5.0)]);
    assert_eq!(flaws, []);
}

#[test]
fn what_cannot_be_decoded_is_set_aside_and_the_rest_goes_on() {
    let good = frame(Kind::F64, &[(110, 1, OwnedValue::F64(1.0))]);
    let other_kind =
        frame(Kind::F32, &[(110, 1, OwnedValue::F32(1.0)), (100, 2, OwnedValue::F32(2.0))]);
    let unknown = frame(Kind::F64, &[(9, 1, OwnedValue::F64(1.0))]);
    let mut other_table = good.clone();
    other_table[8] = 99;
    let given: [&[u8]; 5] = [&good, b"SRF\x01nonsense", &other_kind, &unknown, &other_table];
    let messages = messages(&given.map(|payload| ("t", payload, true)));
    let mut decoder = decoder(SampleSelection::default());
    assert_eq!(decoder.decode(&messages, &[], 0, false), Decoded { at: 3, is_unknown: true });
    assert_eq!(decoder.decode(&messages, &[], 3, true), Decoded { at: 5, is_unknown: false });
    assert_eq!(rows(&decoder.take()), [number(110, 1, 1.0), number(100, 2, 2.0)]);
    let flaws = decoder.take_flaws();
    let offsets: Vec<_> = flaws.iter().map(|flaw| flaw.offset).collect();
    assert_eq!(offsets, [101, 102, 103, 104]);
    assert_eq!(flaws[1].reason, "samples of p/110 are f32, not f64");
    assert_eq!(flaws[2].reason, "there is no parameter with the index 9");
    assert_eq!(flaws[3].reason, "the frame is of table 99, not of 7");
}

#[test]
fn a_plain_message_is_a_sample_if_the_broker_took_it_for_one() {
    let messages = messages(&[
        ("p/110", b"1.5", false),
        ("p/110", b"2.5", false),
        ("p/110", b"fast", false),
        ("p/111", b"3", false),
        ("p/140", b"down", false),
    ]);
    let pairs = |all: &[(u64, u32)]| {
        let pair =
            |(at, index): &(u64, u32)| [&at.to_le_bytes()[..], &index.to_le_bytes()].concat();
        all.iter().flat_map(pair).collect::<Vec<u8>>()
    };
    let mut decoder = decoder(SampleSelection::default());
    let sampled = pairs(&[(99, 110), (101, 110), (102, 110), (103, 110), (104, 140)]);
    assert_eq!(decoder.decode(&messages, &sampled, 0, false).at, 3, "another topic has the index");
    assert_eq!(decoder.decode(&messages, &sampled, 3, true).at, 5);
    let gear = (140, 104_000, 0, Some(0.0), None, Some("down".to_owned()), None);
    assert_eq!(rows(&decoder.take()), [number(110, 101_000, 2.5), gear]);
    let offsets: Vec<_> = decoder.take_flaws().iter().map(|flaw| flaw.offset).collect();
    assert_eq!(offsets, [102, 103]);
}

#[test]
fn a_full_decoder_stops_and_goes_on_after_its_samples_are_taken() {
    let payload =
        frame(Kind::F64, &[(110, 1, OwnedValue::F64(1.0)), (111, 1, OwnedValue::F64(2.0))]);
    let messages = messages(&[("t", payload.as_slice(), true); 5]);
    let mut decoder = decoder(SampleSelection::default());
    decoder.rows_max = 3;
    let mut taken = Vec::new();
    let mut at = 0;
    while at < messages.len() {
        at = decoder.decode(&messages, &[], at, false).at;
        taken.push(decoder.take().len());
    }
    assert_eq!(taken, [4, 4, 2]);
}

proptest! {
    /// Runs taken as a whole have the same rows as those taken sample by sample, whatever the layout.
    #[test]
    fn whole_runs_equal_single_samples(
        samples in prop::collection::vec((0_u32..3, -3_i64..3, any::<i64>(), any::<u8>()), 1..40),
        kind in 0_usize..11,
        deflate in any::<bool>(),
    ) {
        let kind = Kind::ALL[kind];
        let mut times = [-3_i64; 3];
        let values: Vec<_> = samples.iter().map(|(.., bits, _)| value(kind, *bits)).collect();
        let mut all: Vec<_> = samples.iter().zip(&values).map(|((at, later, _, quality), value)| {
            // The samples of one parameter do not go back in time.
            let time = &mut times[*at as usize];
            *time = (*time).max(*later);
            let index = u32::from(kind.code()) * 10 + at;
            Sample { index, time_ns: *time, quality: Quality(*quality), value: value.view() }
        }).collect();
        let fill = |frame: &mut FrameBuf| frame.push_samples(kind, &mut all).unwrap();
        let payload = frame_of(fill, deflate);
        let whole = decoded(&payload, SampleSelection::default());
        prop_assert_eq!(whole.0.len(), samples.len());
        prop_assert_eq!(format!("{:?}", whole), format!("{:?}", decoded(&payload, each())));
    }

    #[test]
    fn any_bytes_are_decoded_or_set_aside(payload in prop::collection::vec(any::<u8>(), 0..200)) {
        let (rows, flaws) = decoded(&payload, SampleSelection::default());
        prop_assert!(rows.is_empty());
        prop_assert_eq!(flaws.len(), 1);
    }
}

/// A value of a kind from any bits.
fn value(kind: Kind, bits: i64) -> OwnedValue {
    match kind {
        Kind::Bool => OwnedValue::Bool(bits & 1 == 1),
        Kind::U8 => OwnedValue::U8(bits as u8),
        Kind::U16 => OwnedValue::U16(bits as u16),
        Kind::U32 => OwnedValue::U32(bits as u32),
        Kind::U64 => OwnedValue::U64(bits as u64),
        Kind::I8 => OwnedValue::I8(bits as i8),
        Kind::I16 => OwnedValue::I16(bits as i16),
        Kind::I32 => OwnedValue::I32(bits as i32),
        Kind::I64 => OwnedValue::I64(bits),
        Kind::F32 => OwnedValue::F32(f32::from_bits(bits as u32)),
        _ => OwnedValue::F64(f64::from_bits(bits as u64)),
    }
}
