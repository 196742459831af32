//! Reads files that hold secrets: refuses those that others can read, with the command that mends them.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use zeroize::Zeroizing;

/// Bytes of a secret, at most: CONNECT carries no more.
const BYTES_MAX: u64 = 65_535;
const ROOT: u32 = 0;
/// Bits of a file's mode.
const GROUP: u32 = 0o070;
const GROUP_WRITES: u32 = 0o030;
const OTHERS: u32 = 0o007;

/// Refuses a file with a secret that others than its owner can read, or that belongs to somebody else.
///
/// As in PostgreSQL, root's own file may be readable for a group, so that several services can share it.
pub fn check_secret_file(path: &Path) -> Result<(), String> {
    let about = std::fs::metadata(path).map_err(|error| cannot_read(path, &error))?;
    check(path, &about, rustix::process::geteuid().as_raw())
}

fn check(path: &Path, about: &Metadata, us: u32) -> Result<(), String> {
    let (shown, owner) = (path.display(), about.uid());
    if !about.is_file() {
        return Ok(()); // a pipe or a descriptor, such as /dev/fd/3: nobody else can open it later
    }
    if owner != us && owner != ROOT {
        return Err(format!(
            "{shown} holds a secret and belongs to another user; run: chown $(id -u) {shown}"
        ));
    }
    let (open, mended) =
        if owner == us { (GROUP | OTHERS, 600) } else { (GROUP_WRITES | OTHERS, 640) };
    if about.mode() & open != 0 {
        return Err(format!(
            "{shown} holds a secret, and other users of this computer can read it; run: chmod {mended} {shown}"
        ));
    }
    Ok(())
}

fn cannot_read(path: &Path, error: &io::Error) -> String {
    format!("{} cannot be read: {error}", path.display())
}

/// The first line of a file that only its owner can read.
pub fn read_secret_file(path: &Path) -> Result<Zeroizing<Vec<u8>>, String> {
    let cannot = |error: io::Error| cannot_read(path, &error);
    let file = File::open(path).map_err(cannot)?;
    let about = file.metadata().map_err(cannot)?;
    check(path, &about, rustix::process::geteuid().as_raw())?;
    let mut content = Zeroizing::new(Vec::new());
    file.take(BYTES_MAX).read_to_end(&mut content).map_err(cannot)?;
    let end = content.iter().position(|byte| matches!(byte, b'\r' | b'\n'));
    if let Some(end) = end {
        content.truncate(end);
    }
    Ok(content)
}
