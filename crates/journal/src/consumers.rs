//! Who reads the journal and how far each has come: one small file each in `consumers/`.
//! Knows files and names; what a position holds back is retention's business.

use std::fmt;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use thiserror::Error;

use crate::bounds;
use crate::directory::{self, Directory, Names, name_error, sync_directory, write_synced};
use crate::format::{Identity, OFFSET_MAX, array_at};
use crate::hold::FOLDER_MODE;

/// The longest name of a consumer.
pub const NAME_BYTES_MAX: usize = 64;
/// So many consumers one journal has at most: a program that takes a new name at every start is
/// found out before it has filled the folder.
pub const CONSUMERS_MAX: usize = 1000;

const MAGIC: [u8; 8] = *b"SLIPRCON";
const VERSION: u32 = 2;
/// Every position has the same length, so that a full disk can take a new one over the old.
const FILE_BYTES: usize = 56;
/// Those of an older Slipring know no epoch.
const OLDER_VERSION: u32 = 1;
const OLDER_FILE_BYTES: usize = 48;

/// Up to where somebody has read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The journal that the offset counts in.
    pub journal: Identity,
    /// The first offset not yet read.
    pub offset: u64,
    /// The epoch of the journal when it was read: it tells when the offsets before were given again.
    pub epoch: Option<u64>,
    /// When this was noted: nanoseconds since the Unix epoch, UTC.
    pub updated_ns: i64,
}

/// One who reads, by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Consumer {
    /// The name of its file.
    pub name: String,
    /// Where it stands, or what is wrong with its file.
    pub standing: Result<Standing, ConsumerFlaw>,
}

/// What is wrong with the file of a consumer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConsumerFlaw {
    /// It is a folder, a link, a pipe: not a file.
    NotAFile,
    /// It is not ours, cut short, or its checksum is wrong.
    Damaged,
    /// Another Slipring wrote it.
    Version(u32),
    /// The file system refused to read it.
    Unreadable(io::ErrorKind),
}

impl fmt::Display for ConsumerFlaw {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAFile => out.write_str("it is not a file"),
            Self::Damaged => out.write_str("its content is damaged"),
            Self::Version(version) => write!(out, "it has version {version}"),
            Self::Unreadable(kind) => write!(out, "it cannot be read: {kind}"),
        }
    }
}

/// Why a position was not noted or forgotten.
#[derive(Debug, Error)]
pub enum ConsumerError {
    /// The name would not make a good file.
    #[error(
        "{0:?} is not a consumer's name; allowed: 1 to {NAME_BYTES_MAX} of a-z A-Z 0-9 . _ - and \
         the first a letter or digit"
    )]
    Name(String),
    /// The journal does not go so far, or not for certain.
    #[error(
        "offset {offset} is further than the journal is on the disk, which is {durable}: note only what \
         a reader was given"
    )]
    Beyond {
        /// What was to be noted.
        offset: u64,
        /// Up to where the journal survives a power cut.
        durable: u64,
    },
    /// There are too many already.
    #[error("the journal has {CONSUMERS_MAX} consumers, and takes no more; forget some")]
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
            standing => found.push(Consumer { name, standing }),
        }
    }
    Ok(found)
}

/// Notes how far a consumer has come, for ever: retention then removes nothing it has not read.
/// On a disk without room the old position is overwritten, for else nobody could ever make room.
pub fn commit(dir: &Path, name: &str, standing: &Standing) -> Result<(), ConsumerError> {
    check_name(name)?;
    check_durable(dir, standing)?;
    let folder = make_folder(dir)?;
    let _lock = lock(&folder)?;
    let path = folder.join(name);
    if !path.exists() && names(&folder)?.len() >= CONSUMERS_MAX {
        return Err(ConsumerError::TooMany);
    }
    let bytes = encode(standing);
    match replace(&folder, &path, &bytes) {
        Err(error) if is_no_space(&error) && is_file(&path) => Ok(overwrite(&path, &bytes)?),
        done => Ok(done?),
    }
}

/// Forgets a consumer, and says whether there was one. Its reader is overtaken from then on.
pub fn forget(dir: &Path, name: &str) -> Result<bool, ConsumerError> {
    check_name(name)?;
    let folder = folder(dir);
    let path = folder.join(name);
    if !folder.is_dir() {
        return Ok(false);
    }
    let names = Names::open(&folder)?;
    match fs::remove_file(&path) {
        Ok(()) => names.sync().map(|()| true).map_err(Into::into),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        failed => Ok(name_error(failed, "remove", &path).map(|()| true)?),
    }
}

/// Nobody notes more than survives a power cut. What is noted in another journal is not for this one to
/// judge, and one of an older Slipring does not say.
fn check_durable(dir: &Path, standing: &Standing) -> Result<(), ConsumerError> {
    let (offset, source) = (standing.offset, Directory::new(dir));
    match bounds::durable(&source, standing.journal)? {
        Some(Ok(durable)) if durable.offset < offset => {
            Err(ConsumerError::Beyond { offset, durable: durable.offset })
        }
        _ => Ok(()),
    }
}

/// The folder of the consumers, whose name survives a power cut.
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

/// No path, no hidden file, nothing a shell or a terminal would take for something else.
fn is_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    name.len() <= NAME_BYTES_MAX
        && name.bytes().next().is_some_and(|first| first.is_ascii_alphanumeric())
        && name.bytes().all(plain)
}

/// Names in the folder that can be a consumer's, in order; none while there is no folder.
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

/// One writer at a time; released when the file is dropped.
fn lock(folder: &Path) -> io::Result<File> {
    let file = name_error(File::open(folder), "open", folder)?;
    let locked = flock(&file, FlockOperation::LockExclusive).map_err(io::Error::from);
    name_error(locked, "lock", folder)?;
    Ok(file)
}

/// The new file takes the old one's place whole. Its own name begins with a dot: no consumer's does.
fn replace(folder: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let new = folder.join(".new");
    let names = Names::open(folder)?;
    let written = directory::create(&new)
        .and_then(|file| write_synced(file, &new, bytes))
        .and_then(|()| name_error(fs::rename(&new, path), "replace", path))
        .and_then(|()| names.sync());
    if written.is_err() {
        let _ = fs::remove_file(&new);
    }
    written
}

fn overwrite(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let file = name_error(OpenOptions::new().write(true).open(path), "open", path)?;
    write_synced(file, path, bytes)
}

fn is_no_space(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

/// A link is none: its target is not ours to write to.
fn is_file(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_file())
}

fn load(path: &Path) -> Result<Standing, ConsumerFlaw> {
    let unreadable = |error: io::Error| ConsumerFlaw::Unreadable(error.kind());
    if !fs::symlink_metadata(path).map_err(unreadable)?.is_file() {
        return Err(ConsumerFlaw::NotAFile);
    }
    let mut bytes = Vec::with_capacity(FILE_BYTES + 1);
    let file = File::open(path).map_err(unreadable)?;
    file.take(FILE_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    decode(&bytes)
}

fn encode(standing: &Standing) -> [u8; FILE_BYTES] {
    let mut bytes = [0; FILE_BYTES];
    bytes[0..8].copy_from_slice(&MAGIC);
    bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
    bytes[12..28].copy_from_slice(&standing.journal.0);
    bytes[28..36].copy_from_slice(&standing.offset.to_le_bytes());
    bytes[36..44].copy_from_slice(&standing.updated_ns.to_le_bytes());
    bytes[44..52].copy_from_slice(&standing.epoch.unwrap_or(0).to_le_bytes());
    let checksum = crc32c::crc32c(&bytes[..52]);
    bytes[52..56].copy_from_slice(&checksum.to_le_bytes());
    bytes
}

fn decode(bytes: &[u8]) -> Result<Standing, ConsumerFlaw> {
    let (content, checksum) = bytes.split_last_chunk::<4>().ok_or(ConsumerFlaw::Damaged)?;
    let is_sound = u32::from_le_bytes(*checksum) == crc32c::crc32c(content);
    if !is_sound || content.len() + 4 < OLDER_FILE_BYTES || content[..8] != MAGIC {
        return Err(ConsumerFlaw::Damaged);
    }
    let epoch = match (u32::from_le_bytes(array_at(content, 8)), bytes.len()) {
        (VERSION, FILE_BYTES) => Some(u64::from_le_bytes(array_at(content, 44))),
        (OLDER_VERSION, OLDER_FILE_BYTES) => None,
        (VERSION | OLDER_VERSION, _) => return Err(ConsumerFlaw::Damaged),
        (version, _) => return Err(ConsumerFlaw::Version(version)),
    };
    let standing = Standing {
        journal: Identity(array_at(content, 12)),
        offset: u64::from_le_bytes(array_at(content, 28)),
        epoch: epoch.filter(|epoch| *epoch > 0),
        updated_ns: i64::from_le_bytes(array_at(content, 36)),
    };
    if standing.offset > OFFSET_MAX { Err(ConsumerFlaw::Damaged) } else { Ok(standing) }
}
