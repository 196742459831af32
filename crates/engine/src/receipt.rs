//! What a start found in the journal, and what came back from it.
#![expect(missing_docs, reason = "`slipring.status` describes the fields")]

use serde::Serialize;
use slipring_journal::{Damage, RecoveryReceipt};

use crate::recovery::Recovered;

/// What a start found in the journal.
#[derive(Clone, Debug, Serialize)]
pub struct StartReceipt {
    pub identity: String,
    pub epoch: u64,
    pub first_offset: u64,
    pub next_offset: u64,
    pub left_out: Vec<(u64, u64)>,
    pub narrowed: Option<u32>,
    pub segments: usize,
    pub bytes_read: u64,
    pub cut_bytes: u64,
    pub cut_why: Option<String>,
    pub damage: Vec<DamagedRange>,
    pub flaws: Vec<String>,
    pub sessions: usize,
    pub retained: usize,
    pub queued: usize,
    pub waiting: usize,
    pub requests: usize,
    pub seconds: f64,
}

/// A range of offsets that cannot be read.
#[derive(Clone, Debug, Serialize)]
pub struct DamagedRange {
    pub first_offset: u64,
    pub end_offset: u64,
    pub why: String,
}

impl StartReceipt {
    pub(crate) fn new(journal: &RecoveryReceipt, recovered: Recovered) -> Self {
        let followed = &recovered.damage;
        let damage = journal.damage.iter().filter(|damage| !followed.contains(damage));
        Self {
            identity: journal.identity.to_string(),
            epoch: journal.epoch,
            first_offset: journal.first_offset,
            next_offset: journal.next_offset,
            left_out: journal.left_out.iter().map(|range| (range.start, range.end)).collect(),
            narrowed: journal.narrowed,
            segments: journal.segments,
            bytes_read: journal.bytes_read,
            cut_bytes: journal.cut.as_ref().map_or(0, |cut| cut.bytes),
            cut_why: journal.cut.as_ref().map(ToString::to_string),
            damage: damage.chain(followed).map(DamagedRange::from).collect(),
            flaws: recovered.flaws,
            sessions: recovered.sessions,
            retained: recovered.retained,
            queued: recovered.queued,
            waiting: recovered.waiting,
            requests: recovered.requests,
            seconds: recovered.took.as_secs_f64(),
        }
    }
}

impl From<&Damage> for DamagedRange {
    fn from(damage: &Damage) -> Self {
        let Damage { segment, position, flaw, offsets } = damage;
        let why = format!("segment {segment}.seg at byte {position}: {flaw}");
        Self { first_offset: offsets.start, end_offset: offsets.end, why }
    }
}
