//! What brokers tell each other over a link about the domain, as bytes and back. Never carries a message of a client.

use std::borrow::Cow;

use crate::bounds::BROKERS_MAX;
use crate::byte_cursor::ByteCursor;
use crate::record::{RecordDifference, put_version};
use crate::{BrokerId, BrokerRecord, RecordDigest, RecordError, RecordVersion};

/// The protocol that this broker speaks over links.
const PROTOCOL: u8 = 1;
const HELLO: u8 = 1;
const RECORD: u8 = 2;
const ACKNOWLEDGEMENTS: u8 = 3;
const LACKING: u8 = 4;
pub(crate) const DIFFERENCE: u8 = 5;
/// Acknowledgements in one message.
pub(crate) const ACKNOWLEDGEMENTS_MAX: usize = 1_024;

/// A message from broker to broker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ControlMessage<'a> {
    /// The first message over a link, in both directions.
    Hello(Hello),
    /// The newest record of a broker, as its bytes: who knows it already does not read them.
    Record(Cow<'a, [u8]>),
    /// What leads to the newest record of a broker from one that the neighbour has.
    Difference(Box<RecordDifference>),
    /// Brokers have taken records.
    Acknowledgements(Vec<Acknowledgement>),
    /// The sender has no records of these brokers, or others than those that a difference was made from.
    Lacking(Vec<BrokerId>),
}

/// Who speaks, and what it knows: the other end sends what is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hello {
    pub id: BrokerId,
    pub digest: RecordDigest,
}

/// A broker says that it has taken a record, and all that the record says of interest holds for what it sends from now
/// on. It goes back the way that the record came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Acknowledgement {
    /// Whose record it is.
    pub of: BrokerId,
    pub version: RecordVersion,
    /// Who has taken it.
    pub by: BrokerId,
}

impl<'a> ControlMessage<'a> {
    pub fn decode(bytes: &'a [u8]) -> Result<Self, RecordError> {
        let mut cursor = ByteCursor::new(bytes);
        let message = match cursor.u8()? {
            HELLO => Self::Hello(hello(&mut cursor)?),
            RECORD => return Ok(Self::Record(Cow::Borrowed(&bytes[1..]))),
            ACKNOWLEDGEMENTS => Self::Acknowledgements(acknowledgements(&mut cursor)?),
            DIFFERENCE => Self::Difference(Box::new(RecordDifference::decode(&mut cursor)?)),
            LACKING => Self::Lacking(lacking(&mut cursor)?),
            kind => return Err(RecordError::UnknownKind(kind)),
        };
        cursor.end()?;
        Ok(message)
    }
}

fn hello(cursor: &mut ByteCursor<'_>) -> Result<Hello, RecordError> {
    let protocol = cursor.u8()?;
    if protocol != PROTOCOL {
        return Err(RecordError::UnknownFormat(protocol));
    }
    let id = cursor.broker_id()?;
    let count = bounded(cursor, BROKERS_MAX)?;
    let mut digest = RecordDigest::new();
    for _ in 0..count {
        let entry = (cursor.broker_id()?, cursor.version()?);
        if digest.last().is_some_and(|(last, _)| *last >= entry.0) {
            return Err(RecordError::Unordered);
        }
        digest.push(entry);
    }
    Ok(Hello { id, digest })
}

fn acknowledgements(cursor: &mut ByteCursor<'_>) -> Result<Vec<Acknowledgement>, RecordError> {
    let count = bounded(cursor, ACKNOWLEDGEMENTS_MAX)?;
    let mut entry = || {
        let (of, version) = (cursor.broker_id()?, cursor.version()?);
        Ok(Acknowledgement { of, version, by: cursor.broker_id()? })
    };
    (0..count).map(|_| entry()).collect()
}

fn lacking(cursor: &mut ByteCursor<'_>) -> Result<Vec<BrokerId>, RecordError> {
    let count = bounded(cursor, BROKERS_MAX)?;
    (0..count).map(|_| cursor.broker_id()).collect()
}

fn bounded(cursor: &mut ByteCursor<'_>, max: usize) -> Result<usize, RecordError> {
    let count = usize::from(cursor.u16()?);
    if count > max { Err(RecordError::TooManyEntries) } else { Ok(count) }
}

pub(crate) fn encode_hello(id: BrokerId, digest: &[(BrokerId, RecordVersion)]) -> Vec<u8> {
    let mut out = vec![HELLO, PROTOCOL];
    out.extend(id.to_bytes());
    out.extend((digest.len() as u16).to_be_bytes());
    for (id, version) in digest {
        out.extend(id.to_bytes());
        put_version(&mut out, *version);
    }
    out
}

pub(crate) fn encode_record(record: &BrokerRecord) -> Vec<u8> {
    let mut out = vec![RECORD];
    record.encode(&mut out);
    out
}

pub(crate) fn encode_difference(difference: &RecordDifference) -> Vec<u8> {
    let mut out = vec![DIFFERENCE];
    difference.encode(&mut out);
    out
}

pub(crate) fn encode_acknowledgements(entries: &[Acknowledgement]) -> Vec<u8> {
    let mut out = vec![ACKNOWLEDGEMENTS];
    out.extend((entries.len() as u16).to_be_bytes());
    for entry in entries {
        out.extend(entry.of.to_bytes());
        put_version(&mut out, entry.version);
        out.extend(entry.by.to_bytes());
    }
    out
}

pub(crate) fn encode_lacking(brokers: &[BrokerId]) -> Vec<u8> {
    let mut out = vec![LACKING];
    out.extend((brokers.len() as u16).to_be_bytes());
    out.extend(brokers.iter().flat_map(|id| id.to_bytes()));
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::strategies_tests::{broker, control_message};

    proptest! {
        #[test]
        fn a_message_comes_back_from_its_bytes((message, bytes) in control_message()) {
            prop_assert_eq!(ControlMessage::decode(&bytes), Ok(message));
        }

        #[test]
        fn a_message_that_is_cut_anywhere_is_refused(
            (_, bytes) in control_message(), at in any::<prop::sample::Index>(),
        ) {
            let cut = &bytes[..at.index(bytes.len())];
            let is_refused = match ControlMessage::decode(cut) {
                Ok(ControlMessage::Record(record)) => BrokerRecord::decode(&record).is_err(),
                read => read.is_err(),
            };
            prop_assert!(is_refused);
        }

        #[test]
        fn any_bytes_are_read_without_a_panic(
            kind in 0..6u8, bytes in prop::collection::vec(any::<u8>(), 0..200),
        ) {
            let _ = ControlMessage::decode(&[vec![kind], bytes].concat());
        }
    }

    #[test]
    fn counts_beyond_their_bounds_are_refused_before_their_entries_are_read() {
        let mut hello = encode_hello(broker(1), &[]);
        let at = hello.len() - 2;
        hello[at..].copy_from_slice(&(BROKERS_MAX as u16 + 1).to_be_bytes());
        assert_eq!(ControlMessage::decode(&hello), Err(RecordError::TooManyEntries));
        let count = (ACKNOWLEDGEMENTS_MAX as u16 + 1).to_be_bytes();
        for kind in [ACKNOWLEDGEMENTS, LACKING] {
            let entries = [&[kind][..], &count].concat();
            assert_eq!(ControlMessage::decode(&entries), Err(RecordError::TooManyEntries));
        }
    }

    #[test]
    fn other_protocols_and_kinds_are_refused() {
        let mut hello = encode_hello(broker(1), &[]);
        hello[1] = 9;
        assert_eq!(ControlMessage::decode(&hello), Err(RecordError::UnknownFormat(9)));
        assert_eq!(ControlMessage::decode(&[9]), Err(RecordError::UnknownKind(9)));
    }
}
