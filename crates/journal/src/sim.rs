//! Storage with a simulated disk: crashes at any byte, loses what was not synced, tears pages, flips
//! bits, fills up, fails. For tests; the same seed gives the same faults.

mod disk;

use std::io;
use std::sync::{Arc, Mutex, MutexGuard};

use crate::consumers::Consumer;
use crate::format::Identity;
use crate::segment::SegmentId;
use crate::storage::{ReadSegments, Storage, WriteSegments};
use disk::Disk;
pub use disk::Random;

/// What ends a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crash {
    /// The process is killed: what reached the file stays, synced or not.
    Kill,
    /// The power is cut: of what was not synced, any page may be missing.
    PowerCut,
}

/// One process's handle on the disk. Clones belong to the same process.
#[derive(Clone, Debug)]
pub struct Sim {
    disk: Arc<Mutex<Disk>>,
    life: u64,
}

impl Sim {
    /// An empty disk without faults.
    pub fn new(seed: u64) -> Self {
        Self { disk: Arc::new(Mutex::new(Disk::new(seed))), life: 0 }
    }

    /// The next crash comes after so many bytes and operations; then everything fails until
    /// `restart`.
    pub fn crash_after(&self, budget: usize) {
        self.lock().budget = budget;
    }

    /// Whether the crash came.
    pub fn has_crashed(&self) -> bool {
        self.lock().crashed
    }

    /// Comes up again with what the crash left: the next process's handle. The handles of earlier
    /// processes do nothing any more.
    #[must_use]
    pub fn restart(&self, crash: Crash) -> Self {
        let mut disk = self.lock();
        disk.restart(crash);
        Self { disk: Arc::clone(&self.disk), life: disk.life }
    }

    /// Bytes the disk takes in all; none is no bound.
    pub fn set_capacity(&self, bytes: Option<u64>) {
        self.lock().capacity = bytes.unwrap_or(u64::MAX);
    }

    /// Bytes on the disk.
    pub fn bytes(&self) -> u64 {
        self.lock().bytes()
    }

    /// The write after so many others fails, perhaps half way.
    pub fn fail_write_after(&self, writes: usize) {
        self.lock().write_fails_after = Some(writes);
    }

    /// The sync after so many others fails. What it should have brought to the disk is lost to
    /// later syncs, too, although they succeed.
    pub fn fail_sync_after(&self, syncs: usize) {
        self.lock().sync_fails_after = Some(syncs);
    }

    /// A disk that says "synced" and does nothing.
    pub fn lie_about_syncs(&self) {
        self.lock().sync_lies = true;
    }

    /// Takes back a write or a sync that was to fail.
    pub fn heal(&self) {
        let mut disk = self.lock();
        (disk.write_fails_after, disk.sync_fails_after) = (None, None);
    }

    /// Sets the clock, which stands still: milliseconds since 1970.
    pub fn set_clock(&self, ms: u64) {
        self.lock().now_ms = ms;
    }

    /// Flips a bit of a byte in what was put under a name.
    pub fn flip_kept_bit(&self, name: &str, position: usize) {
        self.lock().kept.get_mut(name).expect("it was put")[position] ^= 0x10;
    }

    /// Removes what was put under a name.
    pub fn forget_kept(&self, name: &str) {
        self.lock().kept.remove(name);
    }

    /// Shortens a segment, as a power cut does.
    pub fn cut_file(&self, segment: SegmentId, size: usize) {
        self.lock().file_mut(segment).expect("the segment is there").truncate(size);
    }

    /// Flips a bit of a byte in a segment.
    pub fn flip_bit(&self, segment: SegmentId, position: usize) {
        self.lock().file_mut(segment).expect("the segment is there").bytes[position] ^= 0x10;
    }

    /// Flips some bit of some segment, and says where; none when the disk is empty.
    pub fn flip_any_bit(&self) -> Option<(SegmentId, u64)> {
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

    /// The places from which recovery kept a copy.
    pub fn set_aside_places(&self) -> Vec<(SegmentId, u64)> {
        self.lock().set_aside.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Disk> {
        self.disk.lock().expect("the disk never panics")
    }

    /// The disk, for a process that lives.
    fn alive(&self) -> io::Result<MutexGuard<'_, Disk>> {
        let disk = self.lock();
        if self.life != disk.life {
            return Err(io::Error::other("the process is dead"));
        }
        disk.alive()?;
        Ok(disk)
    }

    /// The same, for an operation that happens whole or not at all.
    fn step(&self) -> io::Result<MutexGuard<'_, Disk>> {
        let mut disk = self.alive()?;
        disk.step()?;
        Ok(disk)
    }
}

impl ReadSegments for Sim {
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
        Ok(self.alive()?.kept.get(name).cloned())
    }
}

impl WriteSegments for Sim {
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

    fn note(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.step()?.note(name, bytes)
    }

    fn verify(&mut self, _: SegmentId) -> io::Result<()> {
        self.alive().map(drop)
    }
}

impl Storage for Sim {
    fn put(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.alive()?.put(name, bytes)
    }

    fn leave(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.step()?.leave(name, bytes)
    }

    fn remove(&self, segment: SegmentId) -> io::Result<()> {
        self.step()?.kept.remove(&segment.index_file());
        self.step()?.files.remove(&segment).map(drop).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn consumers(&self) -> io::Result<Vec<Consumer>> {
        Ok(Vec::new())
    }

    fn fresh_identity(&self) -> io::Result<Identity> {
        let number = self.alive()?.random.number();
        Ok(Identity(
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
