//! Why a remote reader of the journal does not get what it asks for: the range, or the size of an answer.

use slipring_core::ParameterIndex;
use slipring_journal::{JournalRefusal, RefusalReason};

pub(crate) fn check_range(from: u64, to: u64) -> Result<(), JournalRefusal> {
    if from <= to {
        return Ok(());
    }
    let text = format!("a range ends before it begins: {from} to {to}");
    Err(JournalRefusal::new(RefusalReason::Malformed, text))
}

pub(crate) fn too_large(offset: u64, needed: usize, most: usize) -> JournalRefusal {
    no_room(&format!("the message at offset {offset}"), offset, needed, most)
}

pub(crate) fn definition_too_large(
    index: ParameterIndex,
    needed: usize,
    most: usize,
) -> JournalRefusal {
    no_room(&format!("the definition of parameter {index}"), index.into(), needed, most)
}

fn no_room(what: &str, number: u64, needed: usize, most: usize) -> JournalRefusal {
    let text = format!(
        "{what} takes {needed} bytes, and an answer to this client at most {most}: see its maximum \
         packet size, and limits.outbox_bytes of the broker"
    );
    JournalRefusal { why: RefusalReason::TooLarge, numbers: [number, needed as u64], text }
}
