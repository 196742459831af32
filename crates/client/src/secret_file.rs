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
/// As in Postgres, root's own file may be readable for a group, so that several services can share it.
pub fn check_secret_file(path: &Path) -> Result<(), String> {
    let about = std::fs::metadata(path).map_err(|error| cannot_read(path, &error))?;
    check_metadata(path, &about)
}

fn check_metadata(path: &Path, about: &Metadata) -> Result<(), String> {
    if !about.is_file() {
        return Ok(()); // a pipe or a descriptor, such as /dev/fd/3: nobody else can open it later
    }
    check(path, about.uid(), about.mode(), rustix::process::geteuid().as_raw())
}

fn check(path: &Path, owner: u32, mode: u32, us: u32) -> Result<(), String> {
    let shown = path.display();
    if owner != us && owner != ROOT {
        return Err(format!(
            "{shown} holds a secret and belongs to another user; run: chown $(id -u) {shown}"
        ));
    }
    let (open, mended) =
        if owner == us { (GROUP | OTHERS, 600) } else { (GROUP_WRITES | OTHERS, 640) };
    if mode & open != 0 {
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
    check_metadata(path, &about)?;
    let mut content = Zeroizing::new(Vec::new());
    file.take(BYTES_MAX).read_to_end(&mut content).map_err(cannot)?;
    let end = content.iter().position(|byte| matches!(byte, b'\r' | b'\n'));
    if let Some(end) = end {
        content.truncate(end);
    }
    Ok(content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_owner_alone_may_read_a_secret_or_a_group_that_of_root() {
        let (us, other) = (1000, 1001);
        for (owner, mode, told) in [
            (us, 0o600, ""),
            (us, 0o400, ""),
            (us, 0o640, "chmod 600 key"),
            (us, 0o604, "chmod 600 key"),
            (us, 0o620, "chmod 600 key"),
            (ROOT, 0o600, ""),
            (ROOT, 0o640, ""),
            (ROOT, 0o660, "chmod 640 key"),
            (ROOT, 0o644, "chmod 640 key"),
            (other, 0o600, "belongs to another user"),
        ] {
            match check(Path::new("key"), owner, mode, us) {
                Ok(()) => assert_eq!(told, "", "{owner} {mode:o}"),
                Err(text) => assert!(!told.is_empty() && text.contains(told), "{mode:o}: {text}"),
            }
        }
        assert!(check(Path::new("key"), ROOT, 0o640, ROOT).is_err(), "root's own file");
    }
}
