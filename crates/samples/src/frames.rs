//! Frames as rows: who sent how much, and when it passed the hops.

use slipring_journal::MessageColumns;
use slipring_wire::frame::{FrameView, Hops};

use crate::decode::{BOUNDS, MessageKinds};
use crate::flaw::Flaw;
use crate::optional::OptionalColumn;

/// A row for each frame among some messages.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FrameColumns {
    /// Its position among the messages: its offset, publisher, topic and times are there.
    pub message: Vec<i32>,
    /// The table that its indices belong to.
    pub table: Vec<i64>,
    /// Counts the frames of its sender.
    pub sequence: Vec<i64>,
    /// When its sender sent it, by the sender's clock.
    pub sent_ns: Vec<i64>,
    /// When it was published, by the broker's clock.
    pub published_ns: OptionalColumn<i64>,
    /// When the broker received it.
    pub received_ns: OptionalColumn<i64>,
    /// The broker's clock minus the publisher's.
    pub skew_ns: OptionalColumn<i64>,
    /// How many runs it has.
    pub runs: Vec<i32>,
    /// How many samples it has.
    pub samples: Vec<i32>,
    /// The parameters of its runs; one in two runs counts twice.
    pub parameters: Vec<i32>,
    /// Bytes of its payload.
    pub bytes: Vec<i32>,
    /// Bytes of its runs, inflated.
    pub raw_bytes: Vec<i32>,
}

impl FrameColumns {
    fn push(&mut self, message: usize, payload: &[u8], frame: &FrameView<'_>) {
        let header = frame.header;
        let hop = |of: fn(Hops) -> i64| header.hops.map(of).filter(|time| *time != 0);
        self.message.push(message as i32);
        self.table.push(header.table.into());
        self.sequence.push(header.sequence.into());
        self.sent_ns.push(header.sent_ns);
        self.published_ns.push(hop(|hops| hops.published_ns));
        self.received_ns.push(hop(|hops| hops.received_ns));
        self.skew_ns.push(header.hops.map(|hops| hops.skew_ns));
        self.runs.push(frame.runs().len() as i32);
        self.samples.push(frame.samples() as i32);
        self.parameters.push(frame.runs().map(|run| run.parameters).sum::<usize>() as i32);
        self.bytes.push(payload.len() as i32);
        self.raw_bytes.push(frame.runs().map(|run| run.bytes().len()).sum::<usize>() as i32);
    }
}

/// The frames among some messages, and those that could not be decoded.
pub fn frame_columns(messages: &MessageColumns) -> (FrameColumns, Vec<Flaw>) {
    let (mut columns, mut flaws) = (FrameColumns::default(), Vec::new());
    let (mut kinds, mut scratch) = (MessageKinds::default(), Vec::new());
    for at in 0..messages.len() {
        if !kinds.is_frame(messages.properties.get(at)) {
            continue;
        }
        let payload = messages.payload.get(at);
        match FrameView::decode(payload, &mut scratch, &BOUNDS) {
            Ok(frame) => columns.push(at, payload, &frame),
            Err(error) => {
                flaws.push(Flaw { offset: messages.offset[at], reason: error.to_string() });
            }
        }
    }
    (columns, flaws)
}
