//! How far consumers on other machines have read: what none of them needs any more may be removed.

use slipring_journal::{
    JournalAnswer, JournalRefusal, ReadError, RefusalReason,
    consumers::{self, ConsumerPosition},
};

use super::Question;

const NOT_ITS_CONSUMER: &str = "this user may read a part of the journal only, and commits as the consumer with its own \
                                user name (docs/remote.md)";

impl Question {
    /// Whoever may read a part of the journal commits as the consumer of its own name: what another consumer has not
    /// read is kept for that one.
    fn check_consumer(&self, consumer: &str) -> Result<(), JournalRefusal> {
        let is_own = self.client.identity.load().user.as_deref() == Some(consumer);
        if is_own || self.rights().is_none() {
            return Ok(());
        }
        Err(JournalRefusal::new(RefusalReason::NotAllowed, NOT_ITS_CONSUMER))
    }

    pub(super) fn commit(
        &self,
        position: &ConsumerPosition,
        consumer: &str,
        note: &str,
    ) -> Result<Vec<u8>, JournalRefusal> {
        let ConsumerPosition { journal, offset, epoch, .. } = *position;
        self.check_consumer(consumer)?;
        let ours = self.with_reader(|reader| Ok(reader.identity()))?;
        if journal != ours {
            let text = format!("the broker has journal {ours}, not {journal}");
            return Err(JournalRefusal::new(RefusalReason::OtherJournal, text));
        }
        // A consumer behind the first segment may commit, too.
        self.with_reader(|reader| match reader.check_position(offset, epoch) {
            Err(ReadError::Gap { .. }) => Ok(()),
            checked => checked,
        })?;
        let failed = |text: String| JournalRefusal::new(RefusalReason::Failed, text);
        let folder = self.broker.journal.reading.folder.get();
        let folder = folder.ok_or_else(|| failed("the journal has no folder".to_owned()))?;
        consumers::commit_with_note(folder, consumer, position, note)
            .map_err(|error| failed(error.to_string()))?;
        Ok(JournalAnswer::Committed { journal }.encode())
    }
}
