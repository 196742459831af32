//! Storage with a simulated disk: crashes at any byte, loses what was not synced, tears pages.
//! For tests; the same seed gives the same faults.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::rc::Rc;

use crate::storage::{ReadSegments, WriteSegments};

/// Bytes that a power cut loses or keeps together.
const PAGE_BYTES: usize = 64;

/// What ends a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crash {
    /// The process is killed: what reached the file stays.
    Kill,
    /// The power is cut: of what was not synced, any page may be missing.
    PowerCut,
}

#[derive(Clone, Debug, Default)]
struct SimFile {
    current: Vec<u8>,
    durable: Vec<u8>,
}

#[derive(Debug, Default)]
struct Disk {
    files: BTreeMap<u64, SimFile>,
    set_aside: Vec<(u64, u64)>,
    /// Bytes and operations until the crash.
    budget: usize,
    crashed: bool,
    sync_lies: bool,
    sync_fails: bool,
    random: u64,
}

/// A handle on the disk; clones share it, as a restarted process does.
#[derive(Clone, Debug, Default)]
pub struct Sim(Rc<RefCell<Disk>>);

impl Sim {
    pub fn new(seed: u64) -> Self {
        let sim = Self::default();
        sim.0.borrow_mut().random = seed | 1;
        sim.crash_after(usize::MAX);
        sim
    }

    /// The next crash comes after so many bytes and operations.
    pub fn crash_after(&self, budget: usize) {
        self.0.borrow_mut().budget = budget;
    }

    /// A disk that says "synced" and does nothing.
    pub fn lie_about_syncs(&self) {
        self.0.borrow_mut().sync_lies = true;
    }

    pub fn fail_syncs(&self) {
        self.0.borrow_mut().sync_fails = true;
    }

    pub fn flip_bit(&self, segment: u64, position: usize) {
        let mut disk = self.0.borrow_mut();
        disk.files.get_mut(&segment).unwrap().current[position] ^= 0x10;
    }

    pub fn has_crashed(&self) -> bool {
        self.0.borrow().crashed
    }

    pub fn set_aside_places(&self) -> Vec<(u64, u64)> {
        self.0.borrow().set_aside.clone()
    }

    /// Comes up again after a crash, with what the crash left.
    pub fn restart(&self, crash: Crash) {
        let mut disk = self.0.borrow_mut();
        let mut random = disk.random;
        for file in disk.files.values_mut() {
            if crash == Crash::PowerCut {
                file.current = after_power_cut(file, &mut random);
            }
            file.durable.clone_from(&file.current);
        }
        (disk.random, disk.crashed, disk.budget) = (random, false, usize::MAX);
    }
}

impl Disk {
    /// How much of an operation of some size happens before the crash.
    fn spend(&mut self, size: usize) -> usize {
        let done = size.min(self.budget);
        self.budget -= done;
        self.crashed |= done < size;
        done
    }

    /// For operations that happen whole or not at all.
    fn step(&mut self) -> io::Result<()> {
        self.spend(1);
        self.alive()
    }

    fn alive(&self) -> io::Result<()> {
        if self.crashed { Err(io::Error::other("crashed")) } else { Ok(()) }
    }

    fn file(&self, segment: u64) -> io::Result<&SimFile> {
        self.files.get(&segment).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn file_mut(&mut self, segment: u64) -> io::Result<&mut SimFile> {
        self.files.get_mut(&segment).ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

fn after_power_cut(file: &SimFile, random: &mut u64) -> Vec<u8> {
    if !file.current.starts_with(&file.durable) {
        let cut_happened = next(random) & 1 == 0;
        return if cut_happened { file.current.clone() } else { file.durable.clone() };
    }
    let unsynced = file.current.len() - file.durable.len();
    let kept = file.durable.len() + next(random) as usize % (unsynced + 1);
    let mut bytes = file.current[..kept].to_vec();
    for page in bytes[file.durable.len()..].chunks_mut(PAGE_BYTES) {
        if next(random) % 8 == 0 {
            page.fill(0);
        }
    }
    bytes
}

/// xorshift64.
pub fn next(random: &mut u64) -> u64 {
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    *random
}

impl ReadSegments for Sim {
    fn segments(&self) -> io::Result<Vec<u64>> {
        self.0.borrow().alive()?;
        Ok(self.0.borrow().files.keys().copied().collect())
    }

    fn size(&self, segment: u64) -> io::Result<u64> {
        Ok(self.0.borrow().file(segment)?.current.len() as u64)
    }

    fn read_at(&self, segment: u64, position: u64, into: &mut [u8]) -> io::Result<usize> {
        let disk = self.0.borrow();
        disk.alive()?;
        let bytes = disk.file(segment)?.current.get(position as usize..).unwrap_or_default();
        let length = bytes.len().min(into.len());
        into[..length].copy_from_slice(&bytes[..length]);
        Ok(length)
    }
}

impl WriteSegments for Sim {
    fn create(&mut self, segment: u64) -> io::Result<()> {
        let mut disk = self.0.borrow_mut();
        disk.step()?;
        assert!(disk.files.insert(segment, SimFile::default()).is_none(), "it exists");
        Ok(())
    }

    fn append(&mut self, segment: u64, bytes: &[u8]) -> io::Result<()> {
        let mut disk = self.0.borrow_mut();
        disk.alive()?;
        let done = disk.spend(bytes.len());
        disk.file_mut(segment)?.current.extend_from_slice(&bytes[..done]);
        disk.alive()
    }

    fn truncate(&mut self, segment: u64, size: u64) -> io::Result<()> {
        let mut disk = self.0.borrow_mut();
        disk.step()?;
        disk.file_mut(segment)?.current.truncate(size as usize);
        Ok(())
    }

    fn set_aside(&mut self, segment: u64, position: u64) -> io::Result<()> {
        let mut disk = self.0.borrow_mut();
        disk.step()?;
        disk.set_aside.push((segment, position));
        Ok(())
    }

    fn sync(&mut self, segment: u64) -> io::Result<()> {
        let mut disk = self.0.borrow_mut();
        disk.step()?;
        if disk.sync_fails {
            return Err(io::Error::other("sync failed"));
        }
        if !disk.sync_lies {
            let file = disk.file_mut(segment)?;
            file.durable.clone_from(&file.current);
        }
        Ok(())
    }
}
