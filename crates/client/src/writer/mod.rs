//! A writer gathers samples, and sends them as frames at a beat.
//!
//! For example, with a beat of 20 ms a writer that starts at 0 ms has ticks at 20, 40, 60 ms. Samples
//! written at 3, 9 and 17 ms are sent as one frame at 20 ms; samples written at 41 ms at 60 ms; at 40 ms
//! nothing is sent. If the frame of 20 ms is still not written to the socket at 60 ms, nothing is sent
//! either: the next frame grows until the socket takes it.
//!
//! Gathered samples survive a lost connection. They are sent on the next one after the owner has
//! declared the table there again and called [`Writer::resume`].

mod beat;
mod block;
mod loose;
mod sample_buffer;
mod sender;
#[cfg(test)]
mod tests;

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use slipring_protocol::{BatchId, ClientEvent, ClientProtocol, FlushId, PublishTally, SendError};
use slipring_wire::frame::{PushError, Sample};
use slipring_wire::{QoS, check_topic};
use tokio::runtime::Handle;
use tokio::sync::Notify;

use crate::driver::Mailboxes;
use beat::Beat;
pub use block::Block;
use sample_buffer::{SampleBuffer, SampleBufferLimits};
use sender::FrameSender;

/// Bytes of a packet beside its payload and its topic, at most: headers, content type, hops.
const PACKET_BYTES: usize = 128;

/// How a writer sends.
#[derive(Clone, Debug)]
pub struct WriterOptions {
    /// The topic that frames are published to.
    pub topic: String,
    /// The identity of the table that the indices belong to.
    pub table: u32,
    /// The connection on which the table was declared.
    pub connection: u64,
    /// How long samples are gathered: 1 ms to 10 s, or zero to send each at once.
    pub beat: Duration,
    /// The QoS of the frames: 0 or 1.
    pub qos: QoS,
    /// Whether frames are deflated.
    pub deflate: bool,
    /// Bytes gathered and not sent; at the bound, writing returns [`WriteError::Full`].
    pub bytes_max: usize,
}

/// Why samples were not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WriteError {
    /// Try again after a `Room` event.
    #[error("the writer is full")]
    Full,
    /// It was closed, by its owner or with the connection.
    #[error("the writer is closed")]
    Closed,
    /// They cannot be put into a frame.
    #[error(transparent)]
    Samples(#[from] PushError),
}

/// A flush that waits until this many frames of the writer are sent.
#[derive(Debug)]
struct Flush {
    id: FlushId,
    frames: u64,
}

#[derive(Debug)]
struct State {
    buffer: SampleBuffer,
    /// Frames are sent on this connection only.
    connection: u64,
    flushes: Vec<Flush>,
    /// Frames that were published, or could not be.
    frames: u64,
    /// No more samples are taken.
    closed: bool,
    /// The owner has dropped the writer and cannot resume it.
    dropped: bool,
    /// The sender has ended; what is gathered is not sent.
    over: bool,
}

struct Shared {
    boxes: Arc<Mailboxes>,
    /// The owner's threads fill it, the sender empties it. Locked to move samples, never to wait;
    /// neither outbox nor inbox is locked meanwhile.
    state: Mutex<State>,
    wake: Notify,
    options: WriterOptions,
    id: BatchId,
}

/// Gathers samples and sends them as frames. Every call returns at once, from any thread.
pub struct Writer {
    shared: Arc<Shared>,
}

impl Writer {
    pub(crate) fn start(
        boxes: Arc<Mailboxes>,
        options: WriterOptions,
        runtime: &Handle,
    ) -> Result<Self, SendError> {
        let (writer, sender) = Self::new(boxes, options)?;
        runtime.spawn(sender.run());
        Ok(writer)
    }

    fn new(
        boxes: Arc<Mailboxes>,
        options: WriterOptions,
    ) -> Result<(Self, FrameSender), SendError> {
        let topic = &options.topic;
        check_topic(topic).map_err(|error| SendError::Topic(topic.clone(), error))?;
        let frame_bytes_max = frame_bytes_max(&boxes, topic);
        let bounds = SampleBufferLimits {
            bytes_max: options.bytes_max,
            frame_bytes_max,
            deflate: options.deflate,
        };
        let beat = Beat::new(options.beat, Instant::now());
        let state = Mutex::new(State {
            buffer: SampleBuffer::new(options.table, beat, bounds),
            connection: options.connection,
            flushes: Vec::new(),
            frames: 0,
            closed: false,
            dropped: false,
            over: false,
        });
        let id = boxes.outbox.change(ClientProtocol::open_batch);
        let shared = Arc::new(Shared { boxes, state, wake: Notify::new(), options, id });
        let sender = FrameSender::new(shared.clone());
        Ok((Self { shared }, sender))
    }

    /// The id that a `Refused` event names.
    pub fn id(&self) -> BatchId {
        self.shared.id
    }

    /// Takes a block of values.
    pub fn block(&self, block: &Block<'_>) -> Result<(), WriteError> {
        self.gather(|buffer, now| buffer.block(block, now))
    }

    /// Takes samples of any kinds, each parameter's in the order of their times.
    pub fn samples(&self, samples: &[Sample<'_>]) -> Result<(), WriteError> {
        self.gather(|buffer, now| buffer.samples(samples, now))
    }

    fn gather(
        &self,
        add: impl FnOnce(&mut SampleBuffer, Instant) -> Result<(), WriteError>,
    ) -> Result<(), WriteError> {
        let mut state = self.shared.lock();
        if state.closed {
            return Err(WriteError::Closed);
        }
        let before = state.buffer.due();
        let added = add(&mut state.buffer, Instant::now());
        let sooner = state.buffer.due() != before;
        drop(state);
        if sooner {
            self.shared.wake.notify_one();
        }
        added
    }

    /// Sends all gathered samples without waiting for the beat. A `Flushed` event says when they are
    /// written and, at QoS 1, acknowledged.
    pub fn flush(&self) -> FlushId {
        self.flush_and(|_| {})
    }

    /// Makes a change and adds a flush under one lock, so that the sender sees both or neither.
    fn flush_and(&self, change: impl FnOnce(&mut State)) -> FlushId {
        let boxes = &self.shared.boxes;
        let id = boxes.outbox.change(ClientProtocol::new_flush);
        let mut state = self.shared.lock();
        change(&mut state);
        let frames = state.buffer.flush(Instant::now());
        let done = state.over && state.buffer.bytes() == 0;
        state.flushes.push(Flush { id, frames });
        drop(state);
        if done {
            boxes.inbox.notify(ClientEvent::Flushed(id));
        }
        self.shared.wake.notify_one();
        id
    }

    /// Takes no more samples, and sends the gathered ones. A `Flushed` event says when they are sent.
    pub fn close(&self) -> FlushId {
        self.flush_and(|state| state.closed = true)
    }

    /// Sets the broker's clock minus ours, for the frames from now on.
    pub fn set_skew(&self, skew_ns: Option<i64>) {
        self.shared.lock().buffer.set_skew(skew_ns);
    }

    /// Continues on another connection, where the table is declared now. If it is another table, the
    /// gathered samples are forgotten. Returns how many.
    pub fn resume(&self, table: u32, connection: u64) -> usize {
        let boxes = &self.shared.boxes;
        let frame_bytes_max = frame_bytes_max(boxes, &self.shared.options.topic);
        let mut state = self.shared.lock();
        let forgotten = state.buffer.set_table(table);
        state.buffer.set_frame_bytes_max(frame_bytes_max);
        state.connection = connection;
        let room = state.buffer.has_room_again();
        drop(state);
        self.shared.resume(connection, forgotten > 0);
        if room {
            boxes.inbox.notify(ClientEvent::Room);
        }
        self.shared.wake.notify_one();
        forgotten
    }

    /// Bytes gathered and not handed to the outbox.
    pub fn unsent_bytes(&self) -> usize {
        self.shared.lock().buffer.bytes()
    }

    /// Frames that were sent so far.
    pub fn frames(&self) -> u64 {
        self.shared.lock().frames
    }

    /// The acknowledgements of frames at QoS 1, and the refusals of all frames.
    pub fn tally(&self) -> PublishTally {
        self.shared.boxes.outbox.look(|protocol| protocol.tally(self.shared.id))
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        (state.closed, state.dropped) = (true, true);
        state.buffer.flush(Instant::now());
        drop(state);
        self.shared.wake.notify_one();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nothing panics while a writer is locked")
    }

    /// Sends again the frames that a lost session had not acknowledged; or forgets them, if they are
    /// of another table.
    fn resume(&self, connection: u64, forget: bool) {
        let mut events = Vec::new();
        self.boxes.outbox.write(|protocol| {
            if forget {
                protocol.abandon_writer(self.id, &mut events);
            } else if protocol.connection() == Some(connection) {
                protocol.resume_writer(self.id);
            }
        });
        // There are no messages among the events, so no tags either.
        let _ = self.boxes.inbox.push(&mut events);
    }
}

fn frame_bytes_max(boxes: &Mailboxes, topic: &str) -> usize {
    let packet = boxes.outbox.look(ClientProtocol::packet_bytes_max);
    packet.saturating_sub(PACKET_BYTES + topic.len())
}
