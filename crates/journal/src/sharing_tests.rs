//! An appender that floods the journal does not make the others wait: they share the room, and little is unsynced.
//! The tests run the committer step by step, so that nothing happens by itself.

use std::time::Duration;

use crate::journal::WAITING_BYTES_MAX;
use crate::sim::SimulatedDisk;
use crate::{AppendError, Backlog, Batch, Committer, Journal, JournalOptions, MessageFlags};

const PAYLOAD: usize = 60_000;

fn opened() -> (Journal, Committer) {
    let options = JournalOptions { sync_interval: Duration::MAX, ..JournalOptions::default() };
    let (journal, committer, _) =
        Journal::over(Box::new(SimulatedDisk::new(1)), options, |_| ()).unwrap();
    (journal, committer)
}

fn batch() -> Batch {
    let mut batch = Batch::new();
    batch.begin("p", 1);
    batch.push(MessageFlags::new(0, false), "t", &[], &vec![0; PAYLOAD]);
    batch
}

/// Appends until there is no room. Returns how many bytes wait then.
fn flood(journal: &Journal, backlog: &mut Backlog) -> usize {
    loop {
        match journal.append_shared(&mut batch(), false, backlog) {
            Ok(_) => {}
            Err(AppendError::Full { pending_bytes }) => return pending_bytes,
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn a_flooding_appender_gets_half_the_room_and_a_newcomer_finds_some() {
    let (journal, mut committer) = opened();
    let (mut first, mut second) = (Backlog::default(), Backlog::default());
    let most = WAITING_BYTES_MAX;
    let waiting = flood(&journal, &mut first);
    assert!(waiting <= most / 2 && waiting + 2 * PAYLOAD > most / 2, "{waiting} of {most}");
    journal.append_shared(&mut batch(), true, &mut second).unwrap();
    committer.step();
    journal.append_shared(&mut batch(), false, &mut first).unwrap();
}

#[test]
fn two_flooding_appenders_share_the_room_and_leave_some() {
    let (journal, mut committer) = opened();
    let (mut first, mut second) = (Backlog::default(), Backlog::default());
    let most = WAITING_BYTES_MAX;
    // Each has its share once what was written before has gone.
    for _ in 0..4 {
        let mut is_room = true;
        while is_room {
            let one = journal.append_shared(&mut batch(), false, &mut first).is_ok();
            let other = journal.append_shared(&mut batch(), false, &mut second).is_ok();
            is_room = one || other;
        }
        let waiting = journal.status().pending_bytes;
        assert!(waiting <= most * 2 / 3 + PAYLOAD, "{waiting} of {most}");
        journal.append(&mut batch(), false).unwrap();
        committer.step();
    }
}

#[test]
fn records_of_what_has_happened_always_find_room() {
    let (journal, _committer) = opened();
    flood(&journal, &mut Backlog::default());
    for _ in 0..200 {
        let mut records = Batch::new();
        records.at(1);
        records.records().resize(PAYLOAD, 0);
        journal.append(&mut records, false).unwrap();
    }
}

#[test]
fn at_most_one_mebibyte_is_written_and_not_synced() {
    let (journal, mut committer) = opened();
    journal.append(&mut batch(), false).unwrap();
    committer.step();
    let status = journal.status();
    assert_eq!((status.written, status.synced), (1, 0), "nobody asked for a sync");
    for _ in 0..100 {
        journal.append(&mut batch(), false).unwrap();
        committer.step();
        let status = journal.status();
        let unsynced = (status.written - status.synced) as usize * PAYLOAD;
        assert!(unsynced < (1 << 20), "{unsynced} bytes");
    }
}

#[test]
fn batches_accepted_before_the_disk_was_full_find_room() {
    let disk = SimulatedDisk::new(1);
    let options = JournalOptions { sync_interval: Duration::MAX, ..JournalOptions::default() };
    let (journal, mut committer, _) =
        Journal::over(Box::new(disk.clone()), options, |_| ()).unwrap();
    let mut backlog = Backlog::default();
    flood(&journal, &mut backlog);
    disk.set_capacity(Some(0));
    committer.step();
    assert!(journal.status().no_space.is_some());
    journal.append_shared(&mut batch(), true, &mut backlog).unwrap();
    let waiting = flood(&journal, &mut backlog);
    assert!(waiting > 10 * WAITING_BYTES_MAX && waiting <= options.pending_bytes_max, "{waiting}");
}

#[test]
fn an_urgent_batch_overtakes_appenders_that_wait_until_the_reserve_is_full() {
    let (journal, mut committer) = opened();
    let mut backlogs: Vec<Backlog> = (0..200).map(|_| Backlog::default()).collect();
    for backlog in &mut backlogs {
        flood(&journal, backlog);
    }
    let urgent = || {
        let mut urgent = batch();
        urgent.hurry();
        urgent
    };
    let flooded = journal.append_shared(&mut urgent(), false, &mut backlogs[0]);
    assert!(flooded.is_err(), "much of its own waits already");
    let (mut accepted, mut alarms) = (0, Backlog::default());
    while journal.append_shared(&mut urgent(), false, &mut alarms).is_ok() {
        accepted += PAYLOAD;
    }
    let reserve = WAITING_BYTES_MAX / 8;
    assert!(accepted > reserve / 2 && accepted < reserve + 2 * PAYLOAD, "{accepted} of {reserve}");
    let waiting = journal.status().pending_bytes;
    assert!(waiting <= WAITING_BYTES_MAX + reserve, "{waiting}");
    committer.step();
    journal.append_shared(&mut batch(), false, &mut backlogs[1]).unwrap();
}

#[test]
fn a_batch_is_urgent_only_until_it_is_appended() {
    let (journal, _committer) = opened();
    let mut batch = batch();
    batch.hurry();
    journal.append(&mut batch, false).unwrap();
    assert!(!batch.is_urgent());
}
