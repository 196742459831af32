//! Which messages of a journal were samples of parameters when they came, by the records beside them.
//! Only reads.

use std::ops::Range;

use slipring_core::ledger::{Record, Records, TableRecord};
use slipring_journal::{JournalReader, ReadError, SAMPLE_PAIR_BYTES};

/// Samples among the messages of a range.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Sampled {
    /// The offset to continue from.
    pub end: u64,
    /// For each sample its offset (u64) and the index of its parameter (u32), little-endian.
    pub pairs: Vec<u8>,
}

/// The samples among the messages of a range, or the first of them up to `bytes_max`. Frames, which say
/// themselves what they are, are not among them.
pub fn sampled(
    reader: &mut JournalReader,
    range: Range<u64>,
    bytes_max: usize,
) -> Result<Sampled, ReadError> {
    sampled_for(reader, range, bytes_max, &mut |_, _| true)
}

/// As [`sampled`], with those samples only that pass, by their offset and the index of their parameter.
pub(crate) fn sampled_for(
    reader: &mut JournalReader,
    range: Range<u64>,
    bytes_max: usize,
    is_seen: &mut dyn FnMut(u64, u32) -> bool,
) -> Result<Sampled, ReadError> {
    let mut pairs = Vec::new();
    let mut cut = None;
    let end = reader.records(range.clone(), &mut |base, records| {
        for record in Records::new(records).flatten() {
            let Record::Table(TableRecord::Sampled { index, parameter }) = record else { continue };
            let offset = base + u64::from(index);
            if !range.contains(&offset) || !is_seen(offset, parameter.get()) {
                continue;
            }
            if pairs.len() + SAMPLE_PAIR_BYTES > bytes_max {
                cut = Some(offset);
                return false;
            }
            pairs.extend_from_slice(&offset.to_le_bytes());
            pairs.extend_from_slice(&parameter.get().to_le_bytes());
        }
        true
    })?;
    Ok(Sampled { end: cut.unwrap_or(end), pairs })
}

#[cfg(test)]
mod tests {
    use std::{env, fs, process};

    use slipring_core::ParameterIndex;
    use slipring_journal::{Batch, Journal, JournalOptions, MessageFlags};

    use super::*;

    /// Messages 0 to 3 and 4 to 7; 1, 2 and 5 are samples.
    fn journal(folder: &std::path::Path) {
        let _ = fs::remove_dir_all(folder);
        let journal = Journal::open(folder, JournalOptions::default(), |_| ()).unwrap().0;
        for samples in [&[(1, 70), (2, 7)][..], &[(1, 8)]] {
            let mut batch = Batch::new();
            batch.begin("p", 1);
            for _ in 0..4 {
                batch.push(MessageFlags::new(1, false), "t", b"", b"1");
            }
            for &(index, parameter) in samples {
                TableRecord::Sampled { index, parameter: ParameterIndex::new(parameter) }
                    .encode(batch.records());
            }
            TableRecord::Framed { index: 3 }.encode(batch.records());
            journal.append_waiting(&mut batch, false).unwrap();
        }
        journal.close().unwrap();
    }

    fn pairs(found: &[u8]) -> Vec<(u64, u32)> {
        let number = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().unwrap());
        let small = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().unwrap());
        found
            .chunks(SAMPLE_PAIR_BYTES)
            .map(|pair| (number(&pair[..8]), small(&pair[8..])))
            .collect()
    }

    #[test]
    fn samples_of_a_range_are_listed_with_their_parameters() {
        let folder = env::temp_dir().join(format!("slipring-sampled-{}", process::id()));
        journal(&folder);
        let mut reader = JournalReader::open(&folder).unwrap();
        let mut told = |range: Range<u64>, bytes_max| {
            let found = sampled(&mut reader, range, bytes_max).unwrap();
            (found.end, pairs(&found.pairs))
        };
        assert_eq!(told(0..8, 100), (8, vec![(1, 70), (2, 7), (5, 8)]));
        assert_eq!(told(2..5, 100), (5, vec![(2, 7)]));
        assert_eq!(told(0..8, 2 * SAMPLE_PAIR_BYTES), (5, vec![(1, 70), (2, 7)]));
        assert_eq!(told(5..8, SAMPLE_PAIR_BYTES), (8, vec![(5, 8)]));
        assert_eq!(told(1..8, 0), (1, vec![]), "no room for one");
        assert_eq!(told(3..3, 0), (3, vec![]));
        fs::remove_dir_all(&folder).unwrap();
    }
}
