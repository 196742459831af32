//! Storage on a simulated disk, for tests. It crashes at any byte, loses what was not synced, tears pages,
//! flips bits, fills up and fails. The same seed gives the same faults.

mod disk;

use std::io;
use std::sync::{Arc, Mutex, MutexGuard};

use crate::consumers::Consumer;
use crate::format::JournalIdentity;
use crate::segment::SegmentId;
use crate::storage::{ReadSegments, Storage, WriteSegments};
use disk::DiskState;
pub use disk::Random;

/// How a process ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crash {
    /// The process is killed: written bytes stay, synced or not.
    Kill,
    /// The power is cut: any page that was not synced may be lost.
    PowerCut,
}

/// A process's handle on the disk. Clones belong to the same process.
#[derive(Clone, Debug)]
pub struct SimulatedDisk {
    disk: Arc<Mutex<DiskState>>,
    life: u64,
}

impl SimulatedDisk {
    /// An empty disk without faults.
    pub fn new(seed: u64) -> Self {
        Self { disk: Arc::new(Mutex::new(DiskState::new(seed))), life: 0 }
    }

    /// Crashes after so many bytes and operations; then everything fails until `restart`.
    pub fn crash_after(&self, budget: usize) {
        self.lock().budget = budget;
    }

    /// Whether the crash has happened.
    pub fn has_crashed(&self) -> bool {
        self.lock().crashed
    }

    /// Returns the next process's handle on what the crash left. Handles of earlier processes stop working.
    #[must_use]
    pub fn restart(&self, crash: Crash) -> Self {
        let mut disk = self.lock();
        disk.restart(crash);
        Self { disk: Arc::clone(&self.disk), life: disk.life }
    }

    /// Limits the size of the disk; `None` removes the limit.
    pub fn set_capacity(&self, bytes: Option<u64>) {
        self.lock().capacity = bytes.unwrap_or(u64::MAX);
    }

    /// Bytes on the disk.
    pub fn bytes(&self) -> u64 {
        self.lock().bytes()
    }

    /// Makes the write after so many others fail, perhaps half way.
    pub fn fail_write_after(&self, writes: usize) {
        self.lock().write_fails_after = Some(writes);
    }

    /// Makes the sync after so many others fail. Later syncs succeed, but do not bring its bytes to the disk
    /// either.
    pub fn fail_sync_after(&self, syncs: usize) {
        self.lock().sync_fails_after = Some(syncs);
    }

    /// Makes syncs succeed without doing anything.
    pub fn lie_about_syncs(&self) {
        self.lock().sync_lies = true;
    }

    /// Cancels a write or a sync failure that has not happened yet.
    pub fn heal(&self) {
        let mut disk = self.lock();
        (disk.write_fails_after, disk.sync_fails_after) = (None, None);
    }

    fn lock(&self) -> MutexGuard<'_, DiskState> {
        self.disk.lock().expect("the disk never panics")
    }

    /// The disk, if this process is alive.
    fn alive(&self) -> io::Result<MutexGuard<'_, DiskState>> {
        let disk = self.lock();
        if self.life != disk.life {
            return Err(io::Error::other("the process is dead"));
        }
        disk.alive()?;
        Ok(disk)
    }

    /// The same for an operation that happens completely or not at all.
    fn step(&self) -> io::Result<MutexGuard<'_, DiskState>> {
        let mut disk = self.alive()?;
        disk.step()?;
        Ok(disk)
    }
}

/// Faults that only the tests of this crate make.
#[cfg(test)]
impl SimulatedDisk {
    /// Sets the clock, which does not run: milliseconds since 1970.
    pub(crate) fn set_clock(&self, ms: u64) {
        self.lock().now_ms = ms;
    }

    /// Flips a bit of a byte in the file with a name.
    pub(crate) fn flip_file_bit(&self, name: &str, position: usize) {
        self.lock().named.get_mut(name).expect("it was put")[position] ^= 0x10;
    }

    /// Removes the file with a name.
    pub(crate) fn remove_file(&self, name: &str) {
        self.lock().named.remove(name);
    }

    /// Shortens a segment, as a power cut does.
    pub(crate) fn cut_file(&self, segment: SegmentId, size: usize) {
        self.lock().file_mut(segment).expect("the segment is there").truncate(size);
    }

    /// Flips a bit of a byte in a segment.
    pub(crate) fn flip_bit(&self, segment: SegmentId, position: usize) {
        self.lock().file_mut(segment).expect("the segment is there").bytes[position] ^= 0x10;
    }

    /// Flips a random bit of a random segment, and says where; `None` if the disk is empty.
    pub(crate) fn flip_any_bit(&self) -> Option<(SegmentId, u64)> {
        let mut disk = self.lock();
        let total = disk.files.values().map(|file| file.bytes.len()).sum::<usize>();
        let mut at = disk.random.below(total.max(1));
        let bit = disk.random.below(8);
        for (segment, file) in &mut disk.files {
            if let Some(byte) = file.bytes.get_mut(at) {
                *byte ^= 1 << bit;
                return Some((*segment, at as u64));
            }
            at -= file.bytes.len();
        }
        None
    }

    /// The positions from which recovery set bytes aside.
    pub(crate) fn set_aside_positions(&self) -> Vec<(SegmentId, u64)> {
        self.lock().set_aside.clone()
    }
}

impl ReadSegments for SimulatedDisk {
    fn segments(&self) -> io::Result<Vec<SegmentId>> {
        Ok(self.alive()?.files.keys().copied().collect())
    }

    fn size(&self, segment: SegmentId) -> io::Result<u64> {
        Ok(self.alive()?.file(segment)?.bytes.len() as u64)
    }

    fn read_at(&self, segment: SegmentId, position: u64, into: &mut [u8]) -> io::Result<usize> {
        let disk = self.alive()?;
        let bytes = disk.file(segment)?.bytes.get(position as usize..).unwrap_or_default();
        let length = bytes.len().min(into.len());
        into[..length].copy_from_slice(&bytes[..length]);
        Ok(length)
    }

    fn get(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        Ok(self.alive()?.named.get(name).cloned())
    }
}

impl WriteSegments for SimulatedDisk {
    fn begin(&mut self, segment: SegmentId, bytes: &[u8]) -> io::Result<()> {
        self.alive()?.begin(segment, bytes)
    }

    fn append(&mut self, segment: SegmentId, bytes: &[u8]) -> io::Result<()> {
        self.alive()?.append(segment, bytes)
    }

    fn truncate(&mut self, segment: SegmentId, size: u64) -> io::Result<()> {
        self.step()?.file_mut(segment)?.truncate(size as usize);
        Ok(())
    }

    fn set_aside(&mut self, segment: SegmentId, position: u64) -> io::Result<()> {
        self.step()?.set_aside.push((segment, position));
        Ok(())
    }

    fn sync(&mut self, segment: SegmentId) -> io::Result<()> {
        self.step()?.sync(segment)
    }

    fn overwrite(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.step()?.overwrite(name, bytes)
    }

    fn verify(&mut self, _: SegmentId) -> io::Result<()> {
        self.alive().map(drop)
    }
}

impl Storage for SimulatedDisk {
    fn put(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.alive()?.put(name, bytes)
    }

    fn put_unsynced(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.step()?.put_unsynced(name, bytes)
    }

    fn remove(&self, segment: SegmentId) -> io::Result<()> {
        self.step()?.named.remove(&segment.index_file());
        self.step()?.files.remove(&segment).map(drop).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn consumers(&self) -> io::Result<Vec<Consumer>> {
        Ok(Vec::new())
    }

    fn fresh_identity(&self) -> io::Result<JournalIdentity> {
        let number = self.alive()?.random.number();
        Ok(JournalIdentity(
            [number.to_le_bytes(), (!number).to_le_bytes()].concat().try_into().expect("16"),
        ))
    }

    fn now_ms(&self) -> u64 {
        self.lock().now_ms
    }

    fn clone_reader(&self) -> Box<dyn ReadSegments + Send> {
        Box::new(self.clone())
    }

    fn clone_storage(&self) -> Box<dyn Storage> {
        Box::new(self.clone())
    }
}
