//! The state of the simulated disk: its files, which of their bytes are synced, and the faults to come.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::mem;

use super::Crash;
use crate::segment::SegmentId;

/// Bytes that a power cut loses or keeps as a unit.
const PAGE_BYTES: usize = 64;

/// A segment's file.
#[derive(Debug, Default)]
pub(super) struct File {
    pub bytes: Vec<u8>,
    /// How many of the bytes survive a power cut.
    synced: usize,
    /// The synced bytes before a truncation that is not synced: a power cut may bring them back.
    uncut: Option<Vec<u8>>,
    /// A sync failed: the system may have dropped the pages, so that later syncs do not write them.
    poisoned: bool,
}

impl File {
    pub fn truncate(&mut self, size: usize) {
        if size < self.synced {
            let synced = &self.bytes[..self.synced];
            self.uncut.get_or_insert_with(|| synced.to_vec());
            self.synced = size;
        }
        self.bytes.truncate(size);
    }

    fn sync(&mut self) {
        if !self.poisoned {
            self.synced = self.bytes.len();
            self.uncut = None;
        }
    }

    /// Loses bytes that were not synced, or some pages of them.
    fn cut_power(&mut self, random: &mut Random) {
        if let Some(uncut) = self.uncut.take().filter(|_| random.one_in(2)) {
            self.bytes = uncut;
        } else {
            let unsynced = self.bytes.len() - self.synced;
            self.bytes.truncate(self.synced + random.below(unsynced + 1));
            let pages = self.bytes[self.synced..].chunks_mut(PAGE_BYTES);
            pages.filter(|_| random.one_in(8)).for_each(|page| page.fill(0));
        }
        self.synced = self.bytes.len();
    }
}

/// Everything on the disk, and the faults to come.
#[derive(Debug)]
pub(super) struct DiskState {
    pub files: BTreeMap<SegmentId, File>,
    /// The files beside the segments, by name.
    pub named: BTreeMap<String, Vec<u8>>,
    /// Names of files that are not synced.
    unsynced: BTreeSet<String>,
    /// Earlier contents of files that were overwritten: a power cut may bring any of them back.
    overwritten: BTreeMap<String, Vec<Vec<u8>>>,
    pub set_aside: Vec<(SegmentId, u64)>,
    /// How many processes were started. Calls of an earlier one fail.
    pub life: u64,
    /// Bytes and operations until the crash.
    pub budget: usize,
    pub crashed: bool,
    pub capacity: u64,
    pub sync_lies: bool,
    /// Operations until one fails.
    pub write_fails_after: Option<usize>,
    pub sync_fails_after: Option<usize>,
    pub random: Random,
    pub now_ms: u64,
}

impl DiskState {
    pub fn new(seed: u64) -> Self {
        Self {
            files: BTreeMap::new(),
            named: BTreeMap::new(),
            unsynced: BTreeSet::new(),
            overwritten: BTreeMap::new(),
            set_aside: Vec::new(),
            life: 0,
            budget: usize::MAX,
            crashed: false,
            capacity: u64::MAX,
            sync_lies: false,
            write_fails_after: None,
            sync_fails_after: None,
            random: Random::new(seed),
            now_ms: 0,
        }
    }

    pub fn bytes(&self) -> u64 {
        let segments = self.files.values().map(|file| file.bytes.len() as u64);
        segments.chain(self.named.values().map(|bytes| bytes.len() as u64)).sum()
    }

    pub fn file(&self, segment: SegmentId) -> io::Result<&File> {
        self.files.get(&segment).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    pub fn file_mut(&mut self, segment: SegmentId) -> io::Result<&mut File> {
        self.files.get_mut(&segment).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// How much of an operation of this size happens before the crash.
    fn spend(&mut self, size: usize) -> usize {
        let done = size.min(self.budget);
        self.budget -= done;
        self.crashed |= done < size;
        done
    }

    /// For operations that happen completely or not at all.
    pub fn step(&mut self) -> io::Result<()> {
        self.spend(1);
        self.alive()
    }

    pub fn alive(&self) -> io::Result<()> {
        if self.crashed { Err(io::Error::other("crashed")) } else { Ok(()) }
    }

    pub fn append(&mut self, segment: SegmentId, bytes: &[u8]) -> io::Result<()> {
        let fails = is_due(&mut self.write_fails_after);
        let room = self.capacity.saturating_sub(self.bytes());
        let mut fitting = bytes.len().min(usize::try_from(room).unwrap_or(usize::MAX));
        if fails {
            fitting = self.random.below(fitting + 1);
        }
        let done = self.spend(fitting);
        self.file_mut(segment)?.bytes.extend_from_slice(&bytes[..done]);
        self.alive()?;
        match (fails, done == bytes.len()) {
            (true, _) => Err(io::Error::other("the disk failed to write")),
            (false, true) => Ok(()),
            (false, false) => Err(full()),
        }
    }

    pub fn sync(&mut self, segment: SegmentId) -> io::Result<()> {
        if is_due(&mut self.sync_fails_after) {
            self.file_mut(segment)?.poisoned = true;
            return Err(io::Error::other("the disk failed to sync"));
        }
        if !self.sync_lies {
            self.file_mut(segment)?.sync();
        }
        Ok(())
    }

    pub fn begin(&mut self, segment: SegmentId, bytes: &[u8]) -> io::Result<()> {
        let done = self.replace(bytes.len());
        if done.as_ref().is_ok_and(|replaced| *replaced) {
            let file = File { bytes: bytes.to_vec(), synced: bytes.len(), ..File::default() };
            self.files.insert(segment, file);
        }
        done.and_then(|_| self.alive())
    }

    pub fn put(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let done = self.replace(bytes.len());
        if done.as_ref().is_ok_and(|replaced| *replaced) {
            self.named.insert(name.to_owned(), bytes.to_vec());
            self.unsynced.remove(name);
            self.overwritten.remove(name);
        }
        done.and_then(|_| self.alive())
    }

    /// Whether a file of this size replaces another. A crash in between leaves it to chance.
    fn replace(&mut self, size: usize) -> io::Result<bool> {
        if self.capacity.saturating_sub(self.bytes()) < size as u64 {
            return Err(full());
        }
        if is_due(&mut self.sync_fails_after) {
            return Err(io::Error::other("the disk failed to sync"));
        }
        let whole = self.spend(size + 1) > size;
        Ok(whole || self.random.one_in(2))
    }

    pub fn put_unsynced(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        if self.capacity.saturating_sub(self.bytes()) < bytes.len() as u64 {
            return Err(full());
        }
        self.named.insert(name.to_owned(), bytes.to_vec());
        self.unsynced.insert(name.to_owned());
        Ok(())
    }

    pub fn overwrite(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let file = self.named.get_mut(name).ok_or(io::ErrorKind::NotFound)?;
        let before = mem::replace(file, bytes.to_vec());
        self.overwritten.entry(name.to_owned()).or_default().push(before);
        Ok(())
    }

    /// Gives each overwritten file its newest content or an earlier one.
    fn lose_overwrites(&mut self) {
        for (name, mut before) in mem::take(&mut self.overwritten) {
            let chosen = self.random.below(before.len() + 1);
            if chosen < before.len() {
                self.named.insert(name, before.swap_remove(chosen));
            }
        }
    }

    /// Loses, tears or keeps each file that was not synced.
    fn tear_unsynced(&mut self) {
        for name in mem::take(&mut self.unsynced) {
            if let Some(bytes) = self.named.get_mut(&name) {
                bytes.truncate(self.random.below(2 * bytes.len() + 1));
            }
            if self.random.one_in(4) {
                self.named.remove(&name);
            }
        }
    }

    pub fn restart(&mut self, crash: Crash) {
        if crash == Crash::PowerCut {
            self.tear_unsynced();
            self.lose_overwrites();
            let random = &mut self.random;
            self.files.values_mut().for_each(|file| file.cut_power(random));
        }
        self.files.values_mut().for_each(|file| file.poisoned = false);
        (self.crashed, self.budget) = (false, usize::MAX);
        self.life += 1;
    }
}

fn full() -> io::Error {
    io::Error::new(io::ErrorKind::StorageFull, "the disk is full")
}

/// Counts an operation. Returns whether it must fail; later ones succeed again.
fn is_due(after: &mut Option<usize>) -> bool {
    let due = *after == Some(0);
    *after = after.and_then(|left| left.checked_sub(1));
    due
}

/// xorshift64: small, and the same on every machine.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Mixes the seed, so that neighbouring seeds give different sequences.
    pub fn new(seed: u64) -> Self {
        Self((seed ^ 0x9e37_79b9_7f4a_7c15).wrapping_mul(0xbf58_476d_1ce4_e5b9) | 1)
    }

    /// The next number.
    pub fn number(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below `end`, which must not be zero.
    pub fn below(&mut self, end: usize) -> usize {
        (self.number() % end as u64) as usize
    }

    /// True once in `times` calls, on average.
    pub fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }
}
