//! Consumers on real files: names, content that is not ours, and writers at once.

use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::{env, fs, process, thread};

use proptest::prelude::*;

use crate::consumers::{
    CONSUMERS_MAX, Consumer, ConsumerError, ConsumerFlaw, ConsumerPosition, NAME_BYTES_MAX,
    NOTE_BYTES_MAX, commit, commit_with_note, forget, list,
};
use crate::format::{JournalIdentity, OFFSET_MAX};

struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = env::temp_dir().join(format!("slipring-consumers-{name}-{}", process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn put(&self, name: &str, bytes: &[u8]) {
        fs::create_dir_all(self.0.join("consumers")).unwrap();
        fs::write(self.0.join("consumers").join(name), bytes).unwrap();
    }

    fn flaw(&self, name: &str) -> ConsumerFlaw {
        let found = list(&self.0).unwrap();
        found.into_iter().find(|found| found.name == name).unwrap().position.unwrap_err()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn at(offset: u64) -> ConsumerPosition {
    ConsumerPosition { journal: JournalIdentity([7; 16]), offset, epoch: Some(3), updated_ns: -5 }
}

fn consumer(name: &str, offset: u64, note: &str) -> Consumer {
    Consumer { name: name.to_owned(), position: Ok(at(offset)), note: note.to_owned() }
}

#[test]
fn a_position_is_noted_moved_and_forgotten() {
    let dir = Scratch::new("noted");
    assert_eq!(list(&dir.0).unwrap(), []);
    commit(&dir.0, "lake", &at(3)).unwrap();
    commit(&dir.0, "backup-2.daily", &at(OFFSET_MAX)).unwrap();
    commit(&dir.0, "lake", &at(9)).unwrap();
    let expected = [("backup-2.daily", OFFSET_MAX), ("lake", 9)];
    let expected = expected.map(|(name, offset)| consumer(name, offset, ""));
    assert_eq!(list(&dir.0).unwrap(), expected);
    assert!(forget(&dir.0, "lake").unwrap());
    assert!(!forget(&dir.0, "lake").unwrap());
    assert_eq!(list(&dir.0).unwrap().len(), 1);
}

#[test]
fn what_a_consumer_says_of_its_work_stands_beside_its_position_until_it_says_something_else() {
    let dir = Scratch::new("notes");
    let longest = "ö".repeat(NOTE_BYTES_MAX / 2);
    for note in ["{\"rows\":{}}", &longest, ""] {
        commit_with_note(&dir.0, "lake", &at(3), note).unwrap();
        assert_eq!(list(&dir.0).unwrap(), [consumer("lake", 3, note)]);
    }
    let long = "x".repeat(NOTE_BYTES_MAX + 1);
    let refused = commit_with_note(&dir.0, "lake", &at(9), &long).unwrap_err();
    assert_eq!(refused.to_string(), "a consumer's note has at most 454 bytes, not 455");
    assert_eq!(list(&dir.0).unwrap(), [consumer("lake", 3, "")]);
}

#[test]
fn files_of_older_versions_are_read_without_what_they_lack() {
    let dir = Scratch::new("older");
    commit_with_note(&dir.0, "lake", &at(3), "note").unwrap();
    let bytes = fs::read(dir.0.join("consumers/lake")).unwrap();
    for (version, length) in [(2, 56), (1, 48)] {
        let mut older = bytes[..length - 4].to_vec();
        older[8] = version;
        older.extend_from_slice(&crc32c::crc32c(&older).to_le_bytes());
        dir.put("lake", &older);
        let epoch = Some(3).filter(|_| version == 2);
        let position = Ok(ConsumerPosition { epoch, ..at(3) });
        let lake = Consumer { position, ..consumer("lake", 3, "") };
        assert_eq!(list(&dir.0).unwrap(), [lake]);
    }
}

#[test]
fn a_name_that_could_leave_the_folder_or_hide_in_it_is_refused() {
    let dir = Scratch::new("names");
    let long = "x".repeat(NAME_BYTES_MAX + 1);
    let bad =
        ["", ".", "..", "../lock", "a/b", "/etc/passwd", ".new", "-rf", "a b", "a\0b", "ö", "a\n"];
    for name in bad.into_iter().chain([long.as_str()]) {
        assert!(matches!(commit(&dir.0, name, &at(1)), Err(ConsumerError::Name(_))), "{name:?}");
        assert!(matches!(forget(&dir.0, name), Err(ConsumerError::Name(_))), "{name:?}");
    }
    assert!(!dir.0.join("consumers").exists());
    commit(&dir.0, &"x".repeat(NAME_BYTES_MAX), &at(1)).unwrap();
}

#[test]
fn content_that_is_not_ours_is_named_and_a_commit_repairs_it() {
    let dir = Scratch::new("content");
    dir.put("empty", b"");
    dir.put("text", b"offset = 12\n");
    dir.put("huge", &vec![0; 1 << 20]);
    for name in ["empty", "text", "huge"] {
        assert_eq!(dir.flaw(name), ConsumerFlaw::Damaged);
    }
    commit(&dir.0, "text", &at(12)).unwrap();
    let found = list(&dir.0).unwrap();
    assert_eq!(found.iter().filter(|consumer| consumer.position.is_ok()).count(), 1);
    dir.put("not a name", b"");
    dir.put(".new", b"");
    assert_eq!(list(&dir.0).unwrap().len(), 3);
}

#[test]
fn only_a_regular_file_is_opened() {
    let dir = Scratch::new("kinds");
    dir.put("real", b"");
    fs::create_dir(dir.0.join("consumers/folder")).unwrap();
    symlink("/dev/zero", dir.0.join("consumers/link")).unwrap();
    assert_eq!(dir.flaw("folder"), ConsumerFlaw::NotAFile);
    assert_eq!(dir.flaw("link"), ConsumerFlaw::NotAFile);
}

#[test]
fn a_full_disk_takes_a_new_position_over_the_old_one_but_no_new_name() {
    let dir = Scratch::new("full");
    let fill = || symlink("/dev/full", dir.0.join("consumers/.new")).unwrap();
    commit(&dir.0, "lake", &at(3)).unwrap();
    fill();
    commit(&dir.0, "lake", &at(9)).unwrap();
    fill();
    let refused = commit(&dir.0, "other", &at(9)).unwrap_err();
    assert!(refused.to_string().contains("No space left"), "{refused}");
    assert_eq!(list(&dir.0).unwrap(), [consumer("lake", 9, "")]);
}

#[test]
fn a_new_name_beyond_the_limit_is_refused_and_the_old_ones_still_move() {
    let dir = Scratch::new("many");
    for number in 0..CONSUMERS_MAX {
        dir.put(&format!("c{number}"), b"");
    }
    assert!(matches!(commit(&dir.0, "one-more", &at(1)), Err(ConsumerError::TooMany)));
    commit(&dir.0, "c7", &at(1)).unwrap();
}

#[test]
fn many_writers_at_once_leave_whole_positions() {
    let dir = Scratch::new("writers");
    thread::scope(|scope| {
        for name in ["a", "b", "a", "b"] {
            let dir = &dir.0;
            scope.spawn(move || (0..20).for_each(|offset| commit(dir, name, &at(offset)).unwrap()));
        }
    });
    let found = list(&dir.0).unwrap();
    assert_eq!(found.len(), 2);
    assert!(found.iter().all(|consumer| consumer.position == Ok(at(19))), "{found:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn a_flipped_bit_or_a_cut_in_a_position_is_found(bit in 0..512_usize * 8) {
        let dir = Scratch::new("flips");
        commit(&dir.0, "lake", &at(77)).unwrap();
        let mut bytes = fs::read(dir.0.join("consumers/lake")).unwrap();
        dir.put("lake", &bytes[..bit / 8]);
        prop_assert_eq!(dir.flaw("lake"), ConsumerFlaw::Damaged);
        bytes[bit / 8] ^= 1 << (bit % 8);
        dir.put("lake", &bytes);
        prop_assert_eq!(dir.flaw("lake"), ConsumerFlaw::Damaged);
    }
}
