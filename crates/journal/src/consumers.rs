//! The consumers of a journal: who reads it, and how far each has read. One small file each in `consumers/`.
//! Knows nothing of retention, which decides what a position keeps from being removed, nor of what notes say.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use thiserror::Error;

use crate::directory::{
    self, Directory, DirectoryHandle, is_no_space, name_error, sync_directory, write_synced,
};
use crate::folder_lock::FOLDER_MODE;
use crate::format::{JournalIdentity, OFFSET_MAX, array_at};
use crate::watermarks;

/// The longest name of a consumer.
pub const NAME_BYTES_MAX: usize = 64;
/// The longest note of a consumer: what its file has room for.
pub const NOTE_BYTES_MAX: usize = CHECKSUM_AT - NOTE_AT;
/// The most consumers of one journal, so that a program that takes a new name at every start is noticed
/// before it fills the folder.
pub(crate) const CONSUMERS_MAX: usize = 1000;

const MAGIC: [u8; 8] = *b"SLIPRCON";
const VERSION: u32 = 3;
/// Every file has the same length, so that it can be overwritten on a full disk.
const FILE_BYTES: usize = 512;
const NOTE_AT: usize = 54;
const CHECKSUM_AT: usize = FILE_BYTES - 4;
/// Files of older Sliprings: version 2 has no note, version 1 no epoch either.
const WITHOUT_NOTE: (u32, usize) = (2, 56);
const WITHOUT_EPOCH: (u32, usize) = (1, 48);

/// How far a consumer has read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConsumerPosition {
    /// The journal that the offset belongs to.
    pub journal: JournalIdentity,
    /// The first offset not yet read.
    pub offset: u64,
    /// The epoch of the journal when it was read. It shows whether other messages got the offsets since.
    pub epoch: Option<u64>,
    /// When this was committed: nanoseconds since the Unix epoch, UTC.
    pub updated_ns: i64,
}

/// A consumer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Consumer {
    /// Its name, which is the name of its file.
    pub name: String,
    /// How far it has read, or what is wrong with its file.
    pub position: Result<ConsumerPosition, ConsumerFlaw>,
    /// What it says of its work, for people; empty if it said nothing.
    pub note: String,
}

/// What is wrong with a consumer's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ConsumerFlaw {
    /// It is a folder, a link or a pipe.
    #[error("it is not a file")]
    NotAFile,
    /// It is cut short, its checksum is wrong, or it is a file of something else.
    #[error("its content is damaged")]
    Damaged,
    /// Another version of Slipring wrote it.
    #[error("it has version {0}")]
    Version(u32),
    /// The file system refused to read it.
    #[error("it cannot be read: {0}")]
    Unreadable(io::ErrorKind),
}

/// Why a position was not committed or forgotten.
#[derive(Debug, Error)]
pub enum ConsumerError {
    /// The name cannot be a file name.
    #[error(
        "{0:?} is not a consumer's name; allowed: 1 to {NAME_BYTES_MAX} of a-z A-Z 0-9 . _ - and \
         the first a letter or digit"
    )]
    Name(String),
    /// The note has no room in the file.
    #[error("a consumer's note has at most {NOTE_BYTES_MAX} bytes, not {0}")]
    Note(usize),
    /// The journal is not synced that far.
    #[error(
        "offset {offset} is beyond {durable}, up to where the journal is synced: commit only what a reader \
         returned"
    )]
    Beyond {
        /// The offset to be committed.
        offset: u64,
        /// The synced end of the journal.
        durable: u64,
    },
    /// There are too many already.
    #[error("the journal has {CONSUMERS_MAX} consumers, which is the most; forget some")]
    TooMany,
    /// The file system refused.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// All consumers of the journal in `dir`, by name.
pub fn list(dir: &Path) -> io::Result<Vec<Consumer>> {
    let folder = folder(dir);
    let mut found = Vec::new();
    for name in names(&folder)? {
        match load(&folder.join(&name)) {
            Err(ConsumerFlaw::Unreadable(io::ErrorKind::NotFound)) => {}
            Err(flaw) => found.push(Consumer { name, position: Err(flaw), note: String::new() }),
            Ok((position, note)) => found.push(Consumer { name, position: Ok(position), note }),
        }
    }
    Ok(found)
}

/// Commits how far a consumer has read; retention keeps the rest. The position survives a power cut once
/// this returns. On a full disk the old position is overwritten in place: otherwise retention could never
/// make room.
pub fn commit(dir: &Path, name: &str, position: &ConsumerPosition) -> Result<(), ConsumerError> {
    commit_with_note(dir, name, position, "")
}

/// Commits how far a consumer has read, and what it says of its work.
pub fn commit_with_note(
    dir: &Path,
    name: &str,
    position: &ConsumerPosition,
    note: &str,
) -> Result<(), ConsumerError> {
    check_name(name)?;
    if note.len() > NOTE_BYTES_MAX {
        return Err(ConsumerError::Note(note.len()));
    }
    check_durable(dir, position)?;
    let folder = make_folder(dir)?;
    let _lock = lock(&folder)?;
    let path = folder.join(name);
    if !path.exists() && names(&folder)?.len() >= CONSUMERS_MAX {
        return Err(ConsumerError::TooMany);
    }
    let bytes = encode(position, note);
    match replace(&folder, &path, &bytes) {
        Err(error) if is_no_space(&error) && is_file(&path) => Ok(overwrite(&path, &bytes)?),
        done => Ok(done?),
    }
}

/// Forgets a consumer, so that retention no longer waits for it. Returns whether there was one.
pub fn forget(dir: &Path, name: &str) -> Result<bool, ConsumerError> {
    check_name(name)?;
    let folder = folder(dir);
    let path = folder.join(name);
    if !folder.is_dir() {
        return Ok(false);
    }
    let handle = DirectoryHandle::open(&folder)?;
    match fs::remove_file(&path) {
        Ok(()) => handle.sync().map(|()| true).map_err(Into::into),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        failed => Ok(name_error(failed, "remove", &path).map(|()| true)?),
    }
}

/// Refuses a position beyond the synced end. Accepts a position in another journal, and every position if
/// an older Slipring wrote the journal, which did not note the synced end.
fn check_durable(dir: &Path, position: &ConsumerPosition) -> Result<(), ConsumerError> {
    let (offset, source) = (position.offset, Directory::new(dir));
    match watermarks::durable(&source, position.journal)? {
        Some(Ok(durable)) if durable.offset < offset => {
            Err(ConsumerError::Beyond { offset, durable: durable.offset })
        }
        _ => Ok(()),
    }
}

/// Creates the folder of the consumers, so that its name survives a power cut.
fn make_folder(dir: &Path) -> io::Result<PathBuf> {
    let folder = folder(dir);
    if !folder.is_dir() {
        let made = DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(&folder);
        name_error(made, "create", &folder)?;
        sync_directory(dir)?;
    }
    Ok(folder)
}

fn folder(dir: &Path) -> PathBuf {
    dir.join("consumers")
}

fn check_name(name: &str) -> Result<(), ConsumerError> {
    if is_name(name) { Ok(()) } else { Err(ConsumerError::Name(name.to_owned())) }
}

/// Whether a name is safe as a file name: no path, no hidden file, nothing special to a shell or a terminal.
fn is_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    name.len() <= NAME_BYTES_MAX
        && name.bytes().next().is_some_and(|first| first.is_ascii_alphanumeric())
        && name.bytes().all(plain)
}

/// The names of the consumers in the folder, in order; an empty list while there is no folder.
fn names(folder: &Path) -> io::Result<Vec<String>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => name_error(entries, "list", folder)?,
    };
    let mut names = Vec::new();
    for entry in entries {
        let name = name_error(entry, "list", folder)?.file_name();
        names.extend(name.to_str().filter(|name| is_name(name)).map(str::to_owned));
    }
    names.sort_unstable();
    Ok(names)
}

/// Locks the folder, so that one process writes at a time. Dropping the file releases the lock.
fn lock(folder: &Path) -> io::Result<File> {
    let file = name_error(File::open(folder), "open", folder)?;
    let locked = flock(&file, FlockOperation::LockExclusive).map_err(io::Error::from);
    name_error(locked, "lock", folder)?;
    Ok(file)
}

/// Writes a new file and renames it over the old one. The new file's name begins with a dot, which no
/// consumer's name does.
fn replace(folder: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let new = folder.join(".new");
    let handle = DirectoryHandle::open(folder)?;
    let written = directory::create(&new)
        .and_then(|file| write_synced(file, &new, bytes))
        .and_then(|()| name_error(fs::rename(&new, path), "replace", path))
        .and_then(|()| handle.sync());
    if written.is_err() {
        let _ = fs::remove_file(&new);
    }
    written
}

fn overwrite(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let file = name_error(OpenOptions::new().write(true).open(path), "open", path)?;
    write_synced(file, path, bytes)
}

/// Whether the path is a regular file. A link is not: its target is not ours to write to.
fn is_file(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_file())
}

fn load(path: &Path) -> Result<(ConsumerPosition, String), ConsumerFlaw> {
    let unreadable = |error: io::Error| ConsumerFlaw::Unreadable(error.kind());
    if !fs::symlink_metadata(path).map_err(unreadable)?.is_file() {
        return Err(ConsumerFlaw::NotAFile);
    }
    let mut bytes = Vec::with_capacity(FILE_BYTES + 1);
    let file = File::open(path).map_err(unreadable)?;
    file.take(FILE_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    decode(&bytes)
}

/// The note must fit.
fn encode(position: &ConsumerPosition, note: &str) -> [u8; FILE_BYTES] {
    let mut bytes = [0; FILE_BYTES];
    bytes[0..8].copy_from_slice(&MAGIC);
    bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
    bytes[12..28].copy_from_slice(&position.journal.0);
    bytes[28..36].copy_from_slice(&position.offset.to_le_bytes());
    bytes[36..44].copy_from_slice(&position.updated_ns.to_le_bytes());
    bytes[44..52].copy_from_slice(&position.epoch.unwrap_or(0).to_le_bytes());
    let length = u16::try_from(note.len()).expect("the note was checked");
    bytes[52..NOTE_AT].copy_from_slice(&length.to_le_bytes());
    bytes[NOTE_AT..NOTE_AT + note.len()].copy_from_slice(note.as_bytes());
    let checksum = crc32c::crc32c(&bytes[..CHECKSUM_AT]);
    bytes[CHECKSUM_AT..].copy_from_slice(&checksum.to_le_bytes());
    bytes
}

fn decode(bytes: &[u8]) -> Result<(ConsumerPosition, String), ConsumerFlaw> {
    let (content, checksum) = bytes.split_last_chunk::<4>().ok_or(ConsumerFlaw::Damaged)?;
    let is_sound = u32::from_le_bytes(*checksum) == crc32c::crc32c(content);
    if !is_sound || bytes.len() < WITHOUT_EPOCH.1 || content[..8] != MAGIC {
        return Err(ConsumerFlaw::Damaged);
    }
    let epoch_at_44 = || Some(u64::from_le_bytes(array_at(content, 44)));
    let (epoch, note) = match (u32::from_le_bytes(array_at(content, 8)), bytes.len()) {
        (VERSION, FILE_BYTES) => (epoch_at_44(), note(content)?),
        WITHOUT_NOTE => (epoch_at_44(), String::new()),
        WITHOUT_EPOCH => (None, String::new()),
        (1..=VERSION, _) => return Err(ConsumerFlaw::Damaged),
        (version, _) => return Err(ConsumerFlaw::Version(version)),
    };
    let position = ConsumerPosition {
        journal: JournalIdentity(array_at(content, 12)),
        offset: u64::from_le_bytes(array_at(content, 28)),
        epoch: epoch.filter(|epoch| *epoch > 0),
        updated_ns: i64::from_le_bytes(array_at(content, 36)),
    };
    if position.offset > OFFSET_MAX { Err(ConsumerFlaw::Damaged) } else { Ok((position, note)) }
}

fn note(content: &[u8]) -> Result<String, ConsumerFlaw> {
    let length = usize::from(u16::from_le_bytes(array_at(content, 52)));
    let bytes = content[NOTE_AT..].get(..length).ok_or(ConsumerFlaw::Damaged)?;
    String::from_utf8(bytes.to_vec()).map_err(|_| ConsumerFlaw::Damaged)
}
