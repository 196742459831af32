//! A broker's table and its journal describe the same definitions, whatever was read before.

use std::path::PathBuf;
use std::{env, fs, process};

use slipring_core::desk::{DeclaredEntry, Desk};
use slipring_core::table::{Current, Definition, Registry, Table, TableChange};
use slipring_core::{Limits, Plan, SessionKey};
use slipring_journal::{Batch, Journal, JournalOptions, MessageFlags, RetentionRules};

use super::*;
use crate::history;

const SESSION: SessionKey = SessionKey::new(1);

/// A journal in a folder of its own, and the table that is recorded there.
struct World {
    folder: PathBuf,
    journal: Journal,
    registry: Registry,
}

impl World {
    fn new(name: &str) -> Self {
        let folder = env::temp_dir().join(format!("slipring-definitions-{name}-{}", process::id()));
        let _ = fs::remove_dir_all(&folder);
        let options = JournalOptions { segment_bytes: 400, ..JournalOptions::default() };
        let journal = Journal::open(&folder, options, |_| ()).unwrap().0;
        Self { folder, journal, registry: Registry::new(5) }
    }

    fn append(&self, batch: &mut Batch) -> Offset {
        let appended = self.journal.append_waiting(batch, false).unwrap();
        self.journal.sync().unwrap();
        Offset::new(appended.offsets.start)
    }

    fn note(&mut self, change: &TableChange) {
        let mut batch = Batch::new();
        batch.at(77);
        self.registry.record(change, batch.records());
        let records = batch.records().clone();
        let offset = self.append(&mut batch);
        self.registry.journaled(&records, offset, 77);
    }

    fn declare(&mut self, names: &[&str], definition: &str) {
        let definition = Definition::from_json(definition).unwrap();
        let numbered = (0..).zip(names);
        let asked: Vec<_> =
            numbered.map(|(at, name)| DeclaredEntry::new(at, *name, definition.clone())).collect();
        let bounds = Table::bounds(&Limits::default());
        let declared = self.registry.declare(SESSION, "c", &asked, &bounds, Vec::new());
        self.note(&declared.unwrap().change);
    }

    fn remove(&mut self, names: &[&str]) {
        let (change, _) = self.registry.remove(SESSION, names, false);
        self.note(&change);
    }

    fn publish(&self) {
        let mut batch = Batch::new();
        batch.begin("p", 1);
        batch.push(MessageFlags::new(0, false), "other", b"", &[0; 100]);
        self.append(&mut batch);
    }

    /// A snapshot, and the segments before it are gone.
    fn shorten(&self) {
        let (position, bytes) = history::read(&self.journal).unwrap().snapshot(0);
        self.journal.put_snapshot(position, &bytes).unwrap();
        let rules = RetentionRules { age: None, bytes: Some(1), keep_unread: false };
        self.journal.retire(&rules, self.journal.status().next_offset, 0).unwrap();
    }

    /// What the table knows; a reader of the folder knows the same.
    fn rows(&self) -> String {
        let read = JournalDefinitions::of(&self.folder).unwrap();
        let entries = self.registry.entries();
        assert_eq!(read.flaws.all(), Vec::<String>::new());
        assert_eq!(read.ledger.table().versions_of(), entries.versions_of());
        assert_eq!(read.ledger.table().versions_rows(), entries.versions_rows());
        entries.versions_rows()
    }

    /// A table whose definitions change between messages.
    fn lived(name: &str) -> Self {
        let mut world = Self::new(name);
        world.declare(&["a", "b"], r#"{"type":"f64","unit":"K"}"#);
        world.publish();
        world.declare(&["b"], r#"{"type":"f64","unit":"K","rate_hz":5.0}"#);
        world.publish();
        world.remove(&["a"]);
        world.publish();
        world.declare(&["a"], r#"{"type":"text"}"#);
        world
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

const LIVED: &str = r#"{"index":0,"name":"a","type":"f64","unit":"K","since":0,"since_ns":77,"until":2},
{"index":1,"name":"b","type":"f64","unit":"K","since":0,"since_ns":77,"until":1},
{"index":1,"name":"b","type":"f64","unit":"K","rate_hz":5.0,"since":1,"since_ns":77,"until":null},
{"index":2,"name":"a","type":"text","since":3,"since_ns":77,"until":null}"#;

#[test]
fn a_folder_tells_the_versions_before_and_after_a_snapshot_and_a_restart() {
    let mut world = World::lived("folder");
    let expected = LIVED.replace('\n', "");
    assert_eq!(world.rows(), expected);
    world.shorten();
    assert!(JournalReader::open(&world.folder).unwrap().first_offset() > 0, "something is gone");
    assert_eq!(world.rows(), expected);
    let state = history::read(&world.journal).unwrap();
    world.registry = Registry::restore(state.ledger.table().unwrap().clone());
    assert_eq!(world.rows(), expected);
    world.declare(&["b"], r#"{"type":"f64","unit":"K"}"#);
    assert!(world.rows().contains(r#""rate_hz":5.0,"since":1,"since_ns":77,"until":3"#));
}

#[test]
fn a_reader_goes_on_where_it_was_also_when_the_segments_in_between_are_gone() {
    let mut world = World::lived("follow");
    let mut reader = JournalReader::open(&world.folder).unwrap();
    let mut following = JournalDefinitions::default();
    following.follow(&mut reader).unwrap();
    let before = following.edition();
    following.follow(&mut reader).unwrap();
    assert_eq!(following.edition(), before);
    for is_short in [false, true] {
        world.remove(&["b"]);
        world.publish();
        world.declare(&["b"], r#"{"type":"f64","unit":"K","rate_hz":9.0}"#);
        (0..8).for_each(|_| world.publish());
        if is_short {
            world.shorten();
        }
        following.follow(&mut reader).unwrap();
        assert_ne!(following.edition(), before);
        assert_eq!(following.flaws.all(), Vec::<String>::new());
        assert_eq!(following.ledger.table().versions_rows(), world.rows());
    }
}

#[test]
fn a_table_is_told_in_pages_of_any_size() {
    let mut world = World::lived("pages");
    for round in 0..40 {
        let names: Vec<String> = (0..60).map(|number| format!("n{number}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        world.declare(&names, &format!(r#"{{"type":"u8","rate_hz":{}.0}}"#, round + 1));
        world.publish();
    }
    let (rows, registry) = (world.rows(), std::mem::take(&mut world.registry));
    let plan = Plan::default();
    let table = SharedTable::new(Table::new(registry, Current::default(), &plan));
    for bytes_max in [140, 1_000, 50_000, usize::MAX] {
        let (mut told, mut from) = (String::new(), Default::default());
        loop {
            let DefinitionPage { rows, next, .. } = page(&table, from, bytes_max, &|_| true);
            assert!(!rows.is_empty() && rows.len() <= bytes_max);
            told.push_str(if told.is_empty() { "" } else { "," });
            told.push_str(&rows);
            let Some((index, since, _)) = next else { break };
            from = (index, since);
        }
        assert_eq!(told, rows, "{bytes_max}");
    }
    let end = page(&table, (ParameterIndex::new(u32::MAX), Offset::new(0)), 0, &|_| true);
    assert_eq!((end.table.0, end.rows.as_str(), end.next), (5, "", None));
    let none = page(&table, Default::default(), 10, &|_| true);
    assert!(none.rows.is_empty() && none.next.is_some_and(|(_, _, needed)| needed > 10));
}
