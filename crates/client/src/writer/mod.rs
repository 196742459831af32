//! A writer gathers samples, and sends them as frames at a beat.
//!
//! While the frame before is not written, the next one grows. What is gathered outlives a lost
//! connection; frames go on a connection only after the owner said that the broker knows of them
//! there.

mod beat;
mod block;
mod gathering;
mod loose;
mod sending;
#[cfg(test)]
mod tests;

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use slipring_wire::frame::{PushError, Sample};
use slipring_wire::{QoS, check_topic};
use tokio::runtime::Handle;
use tokio::sync::Notify;

use crate::driver::Boxes;
use crate::machine::{BatchId, FlushId, Notice, SendError, Tally};
use beat::Beat;
pub use block::Block;
use gathering::{Bounds, GatherError, Gathering};
use sending::Sending;

/// What a packet has beside its payload and its topic, at most: headers, content type, hops.
const PACKET_BYTES: usize = 128;

/// How a writer sends.
#[derive(Clone, Debug)]
pub struct WriterOptions {
    /// Where frames are published.
    pub topic: String,
    /// Which table the indices belong to.
    pub table: u32,
    /// The connection that the broker knows of the table on.
    pub connection: u64,
    /// How long samples are gathered: 1 ms to 10 s, or zero for at once.
    pub beat: Duration,
    /// The quality of the frames: 0 or 1.
    pub qos: QoS,
    /// Whether frames are deflated.
    pub deflate: bool,
    /// Gathered and not sent; at the bound, writing is answered with `Full`.
    pub bytes_max: usize,
}

/// Why samples were not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WriteError {
    /// Room comes with a notice; then try again.
    #[error("the writer is full")]
    Full,
    /// It was closed, by its owner or with the connection.
    #[error("the writer is closed")]
    Closed,
    /// They do not belong together.
    #[error(transparent)]
    Samples(#[from] PushError),
}

/// A flush that waits: until so many frames of this writer have left.
#[derive(Debug)]
struct Flush {
    id: FlushId,
    frames: u64,
}

#[derive(Debug)]
struct State {
    gathering: Gathering,
    /// Frames go on this connection only.
    connection: u64,
    flushes: Vec<Flush>,
    /// Frames that became messages, or were refused before.
    frames: u64,
    /// Nothing more is taken.
    closed: bool,
    /// Nobody has the writer any more, so that nobody lets it go on.
    dropped: bool,
    /// Nobody sends what is gathered any more.
    over: bool,
}

struct Shared {
    boxes: Arc<Boxes>,
    /// Filled by the owner's threads, emptied by the task; held to move samples, never to wait.
    /// Outbox and inbox are never locked while this is.
    state: Mutex<State>,
    wake: Notify,
    options: WriterOptions,
    stream: BatchId,
}

/// Gathers samples and sends them as frames. Every call returns at once, from any thread.
pub struct Writer {
    shared: Arc<Shared>,
}

impl Writer {
    pub(crate) fn start(
        boxes: Arc<Boxes>,
        options: WriterOptions,
        runtime: &Handle,
    ) -> Result<Self, SendError> {
        let (writer, sending) = Self::new(boxes, options)?;
        runtime.spawn(sending.run());
        Ok(writer)
    }

    fn new(boxes: Arc<Boxes>, options: WriterOptions) -> Result<(Self, Sending), SendError> {
        let topic = &options.topic;
        check_topic(topic).map_err(|error| SendError::Topic(topic.clone(), error))?;
        let frame_bytes_max = frame_bytes_max(&boxes, topic);
        let bounds =
            Bounds { bytes_max: options.bytes_max, frame_bytes_max, deflate: options.deflate };
        let beat = Beat::new(options.beat, Instant::now());
        let state = Mutex::new(State {
            gathering: Gathering::new(options.table, beat, bounds),
            connection: options.connection,
            flushes: Vec::new(),
            frames: 0,
            closed: false,
            dropped: false,
            over: false,
        });
        let stream = boxes.outbox.change(crate::Machine::open_stream);
        let shared = Arc::new(Shared { boxes, state, wake: Notify::new(), options, stream });
        let sending = Sending::new(shared.clone());
        Ok((Self { shared }, sending))
    }

    /// Says whose refusals a `Refused` notice is about.
    pub fn id(&self) -> BatchId {
        self.shared.stream
    }

    /// Takes a block of values.
    pub fn block(&self, block: &Block<'_>) -> Result<(), WriteError> {
        self.gather(|gathering, now| gathering.block(block, now))
    }

    /// Takes samples of any kinds, each parameter's in the order of their times.
    pub fn samples(&self, samples: &[Sample<'_>]) -> Result<(), WriteError> {
        self.gather(|gathering, now| gathering.samples(samples, now))
    }

    fn gather(
        &self,
        add: impl FnOnce(&mut Gathering, Instant) -> Result<(), GatherError>,
    ) -> Result<(), WriteError> {
        let mut state = self.shared.lock();
        if state.closed {
            return Err(WriteError::Closed);
        }
        let before = state.gathering.due();
        let added = add(&mut state.gathering, Instant::now());
        let sooner = state.gathering.due() != before;
        drop(state);
        if sooner {
            self.shared.wake.notify_one();
        }
        added.map_err(|error| match error {
            GatherError::Full => WriteError::Full,
            GatherError::Push(error) => WriteError::Samples(error),
        })
    }

    /// Sends all that is gathered without waiting for the beat; a `Flushed` notice tells when it is
    /// written and, at QoS 1, answered.
    pub fn flush(&self) -> FlushId {
        self.flush_and(|_| {})
    }

    /// The flush is there with the change, not after it: who sees one sees both.
    fn flush_and(&self, change: impl FnOnce(&mut State)) -> FlushId {
        let boxes = &self.shared.boxes;
        let id = boxes.outbox.change(crate::Machine::new_flush);
        let mut state = self.shared.lock();
        change(&mut state);
        let frames = state.gathering.flush(Instant::now());
        let done = state.over && state.gathering.bytes() == 0;
        state.flushes.push(Flush { id, frames });
        drop(state);
        if done {
            boxes.inbox.notify(Notice::Flushed(id));
        }
        self.shared.wake.notify_one();
        id
    }

    /// Takes nothing more; what is gathered is sent. A `Flushed` notice tells when.
    pub fn close(&self) -> FlushId {
        self.flush_and(|state| state.closed = true)
    }

    /// The broker's clock minus ours, for the frames from now on.
    pub fn set_skew(&self, skew_ns: Option<i64>) {
        self.shared.lock().gathering.set_skew(skew_ns);
    }

    /// Lets frames go on another connection, where the broker knows of the table now. If that is
    /// another table, what was gathered is forgotten; how many samples.
    pub fn resume(&self, table: u32, connection: u64) -> usize {
        let boxes = &self.shared.boxes;
        let frame_bytes_max = frame_bytes_max(boxes, &self.shared.options.topic);
        let mut state = self.shared.lock();
        let forgotten = state.gathering.set_table(table);
        state.gathering.set_frame_bytes_max(frame_bytes_max);
        state.connection = connection;
        let room = state.gathering.has_room_again();
        drop(state);
        self.shared.go_on(connection, forgotten > 0);
        if room {
            boxes.inbox.notify(Notice::Room);
        }
        self.shared.wake.notify_one();
        forgotten
    }

    /// Gathered and not handed to the connection yet.
    pub fn unsent_bytes(&self) -> usize {
        self.shared.lock().gathering.bytes()
    }

    /// Frames that were made so far.
    pub fn frames(&self) -> u64 {
        self.shared.lock().frames
    }

    /// What became of the frames at QoS 1; refusals of all.
    pub fn tally(&self) -> Tally {
        self.shared.boxes.outbox.look(|machine| machine.tally(self.shared.stream))
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        (state.closed, state.dropped) = (true, true);
        state.gathering.flush(Instant::now());
        drop(state);
        self.shared.wake.notify_one();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nothing panics while a writer is locked")
    }

    /// Sends again what a lost session had not answered; or forgets it with the table it is of.
    fn go_on(&self, connection: u64, forget: bool) {
        let mut events = Vec::new();
        self.boxes.outbox.write(|machine| {
            if forget {
                machine.abandon_stream(self.stream, &mut events);
            } else if machine.connection() == Some(connection) {
                machine.resume_stream(self.stream);
            }
        });
        // Only notices come of it.
        let _ = self.boxes.inbox.push(&mut events);
    }
}

fn frame_bytes_max(boxes: &Boxes, topic: &str) -> usize {
    let packet = boxes.outbox.look(crate::Machine::packet_bytes_max);
    packet.saturating_sub(PACKET_BYTES + topic.len())
}
