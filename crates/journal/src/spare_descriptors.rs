//! Spare file descriptors, so that the journal can open files when clients have used up all others.
//! Knows nothing of what is opened.

use std::fs::File;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::io::Errno;

/// The most that the journal's threads open at one time: two files and their directory for the committer, as
/// many for a snapshot, and a few for readers.
const SPARES: usize = 8;

// One set for the process, as descriptors are. A lock: taken when a journal is opened, and when an open fails.
static HELD: Mutex<Vec<File>> = Mutex::new(Vec::new());

/// Opens as many spare descriptors as are missing, if the process can get them.
pub(crate) fn refill() {
    let mut held = spares();
    while held.len() < SPARES {
        match File::open("/dev/null") {
            Ok(file) => held.push(file),
            Err(_) => return,
        }
    }
}

/// Opens something. When there is no descriptor left, closes a spare one for it.
pub(crate) fn with_spare<T>(open: impl Fn() -> io::Result<T>) -> io::Result<T> {
    let mut opened = open();
    while opened.as_ref().is_err_and(is_out_of_descriptors) {
        // Another thread may take the descriptor first; then the next spare one is closed.
        let Some(spare) = spares().pop() else { break };
        drop(spare);
        opened = open();
    }
    opened
}

/// Whether an open failed because too many files are open, here or on the whole machine.
pub(crate) fn is_out_of_descriptors(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::MFILE | Errno::NFILE))
}

fn spares() -> MutexGuard<'static, Vec<File>> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn a_spare_descriptor_is_given_up_for_an_open_that_finds_none_and_taken_again_later() {
        refill();
        let tried = Cell::new(0);
        let opened = with_spare(|| {
            tried.set(tried.get() + 1);
            if tried.get() < 3 { Err(Errno::MFILE.into()) } else { Ok(spares().len()) }
        });
        assert_eq!(opened.unwrap(), SPARES - 2);
        refill();
        assert_eq!(spares().len(), SPARES);
        let never = with_spare(|| Err::<(), _>(Errno::NFILE.into()));
        assert!(is_out_of_descriptors(&never.unwrap_err()));
        assert_eq!(spares().len(), 0);
        refill();
    }

    #[test]
    fn an_open_that_fails_for_another_reason_uses_no_spare_descriptor() {
        let denied = with_spare(|| Err::<(), _>(Errno::ACCESS.into()));
        assert_eq!(denied.unwrap_err().kind(), io::ErrorKind::PermissionDenied);
    }
}
