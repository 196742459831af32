//! The simulated disk itself: its files, what of them is durable, and the faults that are due.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::mem;

use super::Crash;
use crate::segment::SegmentId;

/// Bytes that a power cut loses or keeps together.
const PAGE_BYTES: usize = 64;

/// A segment's file.
#[derive(Debug, Default)]
pub(super) struct File {
    pub bytes: Vec<u8>,
    /// How many of the bytes survive a power cut.
    synced: usize,
    /// What a power cut may bring back: the synced bytes before a cut that is not synced.
    uncut: Option<Vec<u8>>,
    /// A sync failed: the system may have dropped the pages, and later syncs do not bring them.
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

    /// Loses what was not synced, or some pages of it.
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

/// All that a broker would keep on a disk, and the faults that are due.
#[derive(Debug)]
pub(super) struct Disk {
    pub files: BTreeMap<SegmentId, File>,
    /// What was put under a name.
    pub kept: BTreeMap<String, Vec<u8>>,
    /// Names under which the newest bytes are not synced.
    left: BTreeSet<String>,
    /// What stood under a name before it was noted: a power cut brings any of it back.
    noted: BTreeMap<String, Vec<Vec<u8>>>,
    pub set_aside: Vec<(SegmentId, u64)>,
    /// Processes started, this one included; what an earlier one still tries is refused.
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

impl Disk {
    pub fn new(seed: u64) -> Self {
        Self {
            files: BTreeMap::new(),
            kept: BTreeMap::new(),
            left: BTreeSet::new(),
            noted: BTreeMap::new(),
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
        segments.chain(self.kept.values().map(|bytes| bytes.len() as u64)).sum()
    }

    pub fn file(&self, segment: SegmentId) -> io::Result<&File> {
        self.files.get(&segment).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    pub fn file_mut(&mut self, segment: SegmentId) -> io::Result<&mut File> {
        self.files.get_mut(&segment).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// How much of an operation of some size happens before the crash.
    fn spend(&mut self, size: usize) -> usize {
        let done = size.min(self.budget);
        self.budget -= done;
        self.crashed |= done < size;
        done
    }

    /// For operations that happen whole or not at all.
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
            self.kept.insert(name.to_owned(), bytes.to_vec());
            self.left.remove(name);
            self.noted.remove(name);
        }
        done.and_then(|_| self.alive())
    }

    /// Whether a file of some size takes the place of another: not if a crash comes before.
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

    pub fn leave(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        if self.capacity.saturating_sub(self.bytes()) < bytes.len() as u64 {
            return Err(full());
        }
        self.kept.insert(name.to_owned(), bytes.to_vec());
        self.left.insert(name.to_owned());
        Ok(())
    }

    pub fn note(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let kept = self.kept.get_mut(name).ok_or(io::ErrorKind::NotFound)?;
        let before = mem::replace(kept, bytes.to_vec());
        self.noted.entry(name.to_owned()).or_default().push(before);
        Ok(())
    }

    /// What was noted, and not put, may be any of what was noted since.
    fn forget_noted(&mut self) {
        for (name, mut before) in mem::take(&mut self.noted) {
            let chosen = self.random.below(before.len() + 1);
            if chosen < before.len() {
                self.kept.insert(name, before.swap_remove(chosen));
            }
        }
    }

    /// What was left, and not put, may be gone, torn or whole.
    fn tear_left(&mut self) {
        for name in mem::take(&mut self.left) {
            if let Some(bytes) = self.kept.get_mut(&name) {
                bytes.truncate(self.random.below(2 * bytes.len() + 1));
            }
            if self.random.one_in(4) {
                self.kept.remove(&name);
            }
        }
    }

    pub fn restart(&mut self, crash: Crash) {
        if crash == Crash::PowerCut {
            self.tear_left();
            self.forget_noted();
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

/// Counts an operation, and says whether it is the one to fail; those after it work again.
fn is_due(after: &mut Option<usize>) -> bool {
    let due = *after == Some(0);
    *after = after.and_then(|left| left.checked_sub(1));
    due
}

/// xorshift64: small, and the same on every machine.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Any seed will do; neighbours do not resemble each other.
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

    /// A number below `end`, which is not zero.
    pub fn below(&mut self, end: usize) -> usize {
        (self.number() % end as u64) as usize
    }

    /// Whether something happens that does so one time in `times`.
    pub fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }
}
