//! The lock on a journal's folder: one broker at a time, and nobody but its owner. And what happens when the
//! folder is removed or replaced while a broker runs.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::{env, fs, process};

use slipring_journal::{
    Batch, Journal, JournalOptions, JournalReader, MessageFlags, OpenError, consumers,
};

/// A folder of its own for each test, removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = env::temp_dir().join(format!("slipring-hold-{name}-{}", process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir(&path).unwrap();
        Self(path)
    }

    fn journal(&self) -> PathBuf {
        self.0.join("journal")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn open(dir: &Path) -> Journal {
    Journal::open(dir, JournalOptions::default(), |_| ()).unwrap().0
}

fn append(journal: &Journal) -> Result<(), String> {
    let mut batch = Batch::new();
    batch.begin("p", 1);
    batch.push(MessageFlags::new(1, false), "a/b", &[], b"payload");
    journal.append(&mut batch, true).map_err(|error| error.to_string())?;
    journal.sync().map_err(|error| error.to_string())
}

fn is_locked(dir: &Path) -> bool {
    matches!(Journal::open(dir, JournalOptions::default(), |_| ()), Err(OpenError::Locked(_)))
}

/// What the journal says when it accepts nothing more.
fn refusal(journal: &Journal) -> String {
    // The names are looked at again every half second; the answer is no before or after.
    loop {
        if let Err(error) = append(journal) {
            return error;
        }
    }
}

#[test]
fn a_second_broker_is_kept_out_even_when_the_lock_file_is_removed() {
    let scratch = Scratch::new("lock_removed");
    let journal = open(&scratch.journal());
    append(&journal).unwrap();
    fs::remove_file(scratch.journal().join("lock")).unwrap();
    assert!(is_locked(&scratch.journal()));
    let error = refusal(&journal);
    assert!(error.contains("lock was removed"), "{error}");
    // A journal that has failed keeps its folder until it is closed.
    assert!(is_locked(&scratch.journal()));
    let _ = journal.close();
    append(&open(&scratch.journal())).unwrap();
}

#[test]
fn a_lock_that_is_replaced_is_noticed() {
    let scratch = Scratch::new("lock_replaced");
    let journal = open(&scratch.journal());
    fs::remove_file(scratch.journal().join("lock")).unwrap();
    fs::write(scratch.journal().join("lock"), b"").unwrap();
    let error = refusal(&journal);
    assert!(error.contains("lock was replaced by another"), "{error}");
}

#[test]
fn a_folder_that_is_removed_takes_nothing_more_at_once() {
    let scratch = Scratch::new("removed");
    let journal = open(&scratch.journal());
    append(&journal).unwrap();
    fs::remove_dir_all(scratch.journal()).unwrap();
    let error = append(&journal).unwrap_err();
    assert!(error.contains("removed"), "{error}");
    assert!(journal.status().failure.is_some());
}

#[test]
fn a_segment_that_is_removed_takes_nothing_more_at_once() {
    let scratch = Scratch::new("segment");
    let journal = open(&scratch.journal());
    append(&journal).unwrap();
    fs::remove_file(scratch.journal().join("00000000000000000000.seg")).unwrap();
    let error = append(&journal).unwrap_err();
    assert!(error.contains("00000000000000000000.seg was removed"), "{error}");
}

#[test]
fn a_folder_that_is_renamed_or_replaced_is_noticed_and_the_other_one_is_left_alone() {
    let scratch = Scratch::new("replaced");
    let journal = open(&scratch.journal());
    append(&journal).unwrap();
    let moved = scratch.0.join("moved");
    fs::rename(scratch.journal(), &moved).unwrap();
    let other = open(&scratch.journal());
    append(&other).unwrap();
    let snapshot = journal.put_snapshot(slipring_journal::JournalPosition::default(), b"state");
    assert!(snapshot.unwrap_err().to_string().contains("replaced by another"));
    let error = refusal(&journal);
    assert!(error.contains("replaced by another"), "{error}");
    assert!(is_locked(&moved), "it is still held");
    append(&other).unwrap();
}

#[test]
fn an_idle_journal_notices_too() {
    let scratch = Scratch::new("idle");
    let (told, failed) = std::sync::mpsc::channel();
    let tell = move |progress: slipring_journal::CommitProgress| drop(told.send(progress.failed));
    let (_journal, _) = Journal::open(&scratch.journal(), JournalOptions::default(), tell).unwrap();
    fs::remove_dir_all(scratch.journal()).unwrap();
    let bound = std::time::Duration::from_secs(60);
    while failed.recv_timeout(bound).expect("it is told").is_none() {}
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// All files below a folder.
fn files(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

#[test]
fn folders_and_files_are_for_their_owner_alone() {
    let scratch = Scratch::new("modes");
    let dir = scratch.0.join("data/journal");
    let journal = open(&dir);
    append(&journal).unwrap();
    let standing = consumers::ConsumerPosition {
        journal: journal.identity(),
        offset: 1,
        epoch: Some(1),
        updated_ns: 1,
    };
    consumers::commit(&dir, "lake", &standing).unwrap();
    journal.close().unwrap();
    for folder in [&scratch.0.join("data"), &dir, &dir.join("consumers")] {
        assert_eq!(mode(folder), 0o700, "{}", folder.display());
    }
    let files = files(&dir);
    assert!(files.len() >= 6, "{files:?}");
    for file in files {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
}

#[test]
fn a_folder_that_others_can_read_is_narrowed_and_reported() {
    let scratch = Scratch::new("narrowed");
    let dir = scratch.journal();
    open(&dir).close().unwrap();
    fs::set_permissions(&dir, fs::Permissions::from_mode(0o755)).unwrap();
    for file in files(&dir) {
        fs::set_permissions(file, fs::Permissions::from_mode(0o644)).unwrap();
    }
    let (_journal, receipt) = Journal::open(&dir, JournalOptions::default(), |_| ()).unwrap();
    assert_eq!((receipt.narrowed, mode(&dir)), (Some(0o755), 0o700));
    assert!(files(&dir).iter().all(|file| mode(file) == 0o600));
}

#[test]
fn no_consumer_commits_an_offset_that_is_not_synced() {
    let scratch = Scratch::new("beyond");
    let journal = open(&scratch.journal());
    append(&journal).unwrap();
    let at = |offset| consumers::ConsumerPosition {
        journal: journal.identity(),
        offset,
        epoch: Some(1),
        updated_ns: 1,
    };
    consumers::commit(&scratch.journal(), "lake", &at(1)).unwrap();
    let error = consumers::commit(&scratch.journal(), "lake", &at(2)).unwrap_err();
    assert!(error.to_string().contains("offset 2"), "{error}");
    assert!(JournalReader::open(&scratch.journal()).unwrap().epoch() > 1);
}
