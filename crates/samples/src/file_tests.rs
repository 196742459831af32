//! Files of samples. The tests of Python compare them with what Arrow writes; these look at rows and days.

use super::*;
use crate::runs::Arrived;

const DAY_NS: i64 = 86_400 * 1_000_000_000;
const LAYOUT: FileLayout<'_> = FileLayout { journal: "j", group_rows: 2, page_rows: 1, level: 1 };

fn parameters() -> KnownParameters {
    let text = r#"{"table": 7, "versions": [
        {"index": 0, "name": "a", "type": "f64", "unit": "K"},
        {"index": 1, "name": "b", "type": "bool"},
        {"index": 2, "name": "c", "type": "f64", "unit": "kPa"}]}"#;
    KnownParameters::from_json(text).unwrap()
}

/// Samples of a parameter's index and a source time, with the day on which each was received.
fn samples(all: &[(i32, i64, i64)]) -> (SampleColumns, Vec<Arrival>) {
    let (mut columns, mut arrivals) = (SampleColumns::default(), Vec::new());
    for (offset, (index, time, day)) in (0..).zip(all) {
        columns.index.push(*index);
        columns.source_ns.push(*time);
        columns.quality.push(0);
        columns.value.push(Some(0.5));
        columns.integer.push(None);
        columns.text.push(None);
        columns.bytes.push(None);
        let arrived = Arrived { offset, receive_ns: day * DAY_NS };
        arrivals.push(Arrival { arrived, end: columns.len() });
    }
    (columns, arrivals)
}

#[test]
fn rows_ascend_by_parameter_and_time_and_know_their_message() {
    let (columns, arrivals) = samples(&[(2, 5, 0), (0, 9, 0), (2, 4, 0), (0, 9, 0)]);
    let rows = FileRows::sorted(&columns, &arrivals);
    assert_eq!(rows.positions, [1, 3, 2, 0]);
    assert_eq!(rows.message, [1, 3, 2, 0]);
    assert_eq!(rows.source_ns, [9, 9, 4, 5]);
    assert_eq!(rows.runs(0..4).collect::<Vec<_>>(), [(0, 2), (2, 2)]);
    assert_eq!(rows.runs(1..3).collect::<Vec<_>>(), [(0, 1), (2, 1)]);
}

#[test]
fn each_day_has_a_file_of_its_own() {
    let (columns, arrivals) = samples(&[(2, 5, 1), (0, 9, -1), (1, 4, 1)]);
    let files = sample_files(&columns, &arrivals, &parameters(), &LAYOUT);
    let found: Vec<_> = files.iter().map(|file| (file.day, file.rows)).collect();
    assert_eq!(found, [(-1, 1), (1, 2)]);
    let texts = |least: &str, most: &str| Some((least.to_owned(), most.to_owned()));
    assert_eq!(files[1].kind, TextBounds { texts: texts("bool", "f64"), nulls: 0 });
    assert_eq!(files[1].unit, TextBounds { texts: texts("kPa", "kPa"), nulls: 1 });
    assert!(files.iter().all(|file| file.bytes.starts_with(MAGIC) && file.bytes.ends_with(MAGIC)));
}

#[test]
fn no_samples_are_no_file() {
    let files = sample_files(&SampleColumns::default(), &[], &parameters(), &LAYOUT);
    assert_eq!(files, []);
}
