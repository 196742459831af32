//! Messages to samples: frames, and plain messages on the topics of parameters.

use slipring_core::ParameterIndex;
use slipring_core::table::plain_sample;
use slipring_journal::{MessageColumns, SAMPLE_PAIR_BYTES};
use slipring_wire::frame::{CONTENT_TYPE, FrameBounds, FrameView, RunView};
use slipring_wire::{Properties, PropertyId};

use crate::columns::{SampleColumns, WantedColumns};
use crate::file::{FileLayout, SampleFile, sample_files};
use crate::flaw::Flaw;
use crate::parameters::KnownParameters;
use crate::runs::{Arrival, Arrived};
use crate::selection::SampleSelection;

/// More than a broker accepts. Bytes that claim more do not make us allocate it.
pub(crate) const BOUNDS: FrameBounds =
    FrameBounds { samples_max: 1 << 20, raw_bytes_max: 64 << 20 };
/// Texts and bytes of all rows together; Arrow's columns end at 2 GiB.
const ITEM_BYTES_MAX: usize = 256 << 20;

/// Decodes messages, and keeps their samples until they are taken.
#[derive(Debug)]
pub struct SampleDecoder {
    parameters: KnownParameters,
    selection: SampleSelection,
    wanted: WantedColumns,
    /// No further message is decoded when there are so many samples.
    rows_max: usize,
    columns: SampleColumns,
    arrivals: Vec<Arrival>,
    flaws: Vec<Flaw>,
    scratch: Vec<u8>,
}

/// How a call of `decode` ended. The next one begins at the row `at`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decoded {
    /// The first message that is not decoded.
    pub at: usize,
    /// Whether that message has a parameter that is not known. Learn it, or let it be set aside.
    pub is_unknown: bool,
}

impl SampleDecoder {
    /// A decoder of these parameters' samples.
    pub fn new(
        parameters: KnownParameters,
        selection: SampleSelection,
        wanted: WantedColumns,
        rows_max: usize,
    ) -> Self {
        let (columns, arrivals, flaws, scratch) = Default::default();
        Self { parameters, selection, wanted, rows_max, columns, arrivals, flaws, scratch }
    }

    /// Replaces the parameters, and which of them are asked for.
    pub fn learn(&mut self, parameters: KnownParameters, selection: SampleSelection) {
        (self.parameters, self.selection) = (parameters, selection);
    }

    /// How many samples wait to be taken.
    pub fn rows(&self) -> usize {
        self.columns.len()
    }

    /// Whether the samples must be taken before more are decoded.
    pub fn is_full(&self) -> bool {
        self.rows() >= self.rows_max || self.columns.item_bytes() >= ITEM_BYTES_MAX
    }

    /// Whether there are plain messages on topics of parameters, so that `decode` must be told which are samples.
    pub fn has_plain(&self, messages: &MessageColumns) -> bool {
        let mut kinds = MessageKinds::default();
        (0..messages.len()).any(|at| {
            !kinds.is_frame(messages.properties.get(at))
                && self.parameters.has_topic(messages.topic.get(at))
        })
    }

    /// Decodes messages from the row `at` on, until there are enough samples. `sampled` says which plain messages are
    /// samples. Stops at a message with unknown parameters, unless they are to be set aside.
    pub fn decode(
        &mut self,
        messages: &MessageColumns,
        sampled: &[u8],
        mut at: usize,
        set_aside: bool,
    ) -> Decoded {
        let mut kinds = MessageKinds::default();
        let mut pairs = sampled.chunks_exact(SAMPLE_PAIR_BYTES).map(sampled_pair).peekable();
        while at < messages.len() && !self.is_full() {
            let offset = messages.offset[at];
            while pairs.next_if(|(sample, _)| *sample < offset).is_some() {}
            let parameter = pairs.peek().filter(|(sample, _)| *sample == offset).map(|pair| pair.1);
            let known = if kinds.is_frame(messages.properties.get(at)) {
                self.decode_frame(messages, at, set_aside)
            } else if let Some(index) = parameter {
                self.decode_plain(messages, at, index, set_aside)
            } else {
                true
            };
            if !known {
                return Decoded { at, is_unknown: true };
            }
            self.note_arrival(arrived(messages, at));
            at += 1;
        }
        Decoded { at, is_unknown: false }
    }

    /// The samples so far; the decoder begins anew.
    pub fn take(&mut self) -> SampleColumns {
        self.arrivals.clear();
        std::mem::take(&mut self.columns)
    }

    /// The samples so far as files of the lake, one for each day; the decoder begins anew. Receive time and offset need
    /// not be wanted, all other columns must be.
    pub fn take_files(&mut self, layout: &FileLayout<'_>) -> Vec<SampleFile> {
        let files = sample_files(&self.columns, &self.arrivals, &self.parameters, layout);
        self.columns.clear();
        self.arrivals.clear();
        files
    }

    /// What could not be decoded so far; the decoder begins anew.
    pub fn take_flaws(&mut self) -> Vec<Flaw> {
        std::mem::take(&mut self.flaws)
    }

    /// Returns whether its parameters are known, or what is not known was set aside.
    fn decode_frame(&mut self, messages: &MessageColumns, at: usize, set_aside: bool) -> bool {
        let arrived = arrived(messages, at);
        let mut scratch = std::mem::take(&mut self.scratch);
        let known = match FrameView::decode(messages.payload.get(at), &mut scratch, &BOUNDS) {
            Err(error) => {
                self.set_aside(arrived, error.to_string());
                true
            }
            Ok(frame) if frame.header.table != self.parameters.table && !set_aside => false,
            Ok(frame) if frame.header.table != self.parameters.table => {
                let (found, known) = (frame.header.table, self.parameters.table);
                self.set_aside(arrived, format!("the frame is of table {found}, not of {known}"));
                true
            }
            Ok(frame) => {
                let known = set_aside || frame.runs().all(|run| self.parameters.knows(&run));
                if known {
                    frame.runs().for_each(|run| self.push_run(&run, arrived));
                }
                known
            }
        };
        self.scratch = scratch;
        known
    }

    fn push_run(&mut self, run: &RunView<'_>, arrived: Arrived) {
        let Self { parameters, selection, wanted, columns, .. } = self;
        let has_all = parameters.has(run);
        if has_all && selection.is_all() {
            return columns.push_run(run, arrived, *wanted, parameters);
        }
        if has_all && !selection.may_have(run) {
            return;
        }
        let mut refused = None;
        run.visit(|sample| {
            if !parameters.is(sample.index, run.kind) {
                refused.get_or_insert(sample.index);
            } else if selection.has(sample.index, sample.time_ns) {
                columns.push(&sample, arrived, *wanted, parameters);
            }
        });
        if let Some(index) = refused {
            let reason = match self.parameters.get(index) {
                Some(entry) => {
                    format!("samples of {} are {}, not {}", entry.name, run.kind, entry.kind)
                }
                None => format!("there is no parameter with the index {index}"),
            };
            self.set_aside(arrived, reason);
        }
    }

    fn decode_plain(
        &mut self,
        messages: &MessageColumns,
        at: usize,
        index: u32,
        set_aside: bool,
    ) -> bool {
        let arrived = arrived(messages, at);
        let topic = messages.topic.get(at);
        // The journal may have had another table before, in which the index was another topic's.
        let Some(entry) = self.parameters.get(index).filter(|entry| entry.name.as_bytes() == topic)
        else {
            if set_aside {
                self.set_aside(arrived, format!("there is no parameter with the index {index}"));
            }
            return set_aside;
        };
        let properties =
            Properties::of_publish(messages.properties.get(at)).unwrap_or(Properties::NONE);
        match plain_sample(entry, properties, messages.payload.get(at), arrived.receive_ns) {
            Ok(sample) if self.selection.has(index, sample.time_ns) => {
                let sample = sample.of(ParameterIndex::new(index));
                self.columns.push(&sample, arrived, self.wanted, &self.parameters);
            }
            Ok(_) => {}
            Err(error) => self.set_aside(arrived, error.to_string()),
        }
        true
    }

    /// Notes which samples a message had, if it had any.
    fn note_arrival(&mut self, arrived: Arrived) {
        let end = self.columns.len();
        if end > self.arrivals.last().map_or(0, |last| last.end) {
            self.arrivals.push(Arrival { arrived, end });
        }
    }

    fn set_aside(&mut self, arrived: Arrived, reason: String) {
        self.flaws.push(Flaw { offset: arrived.offset, reason });
    }
}

fn arrived(messages: &MessageColumns, at: usize) -> Arrived {
    Arrived { offset: messages.offset[at], receive_ns: messages.receive_ns[at] }
}

fn sampled_pair(pair: &[u8]) -> (i64, u32) {
    let (offset, index) = pair.split_at(size_of::<u64>());
    let offset = i64::from_le_bytes(offset.try_into().expect("the first eight bytes"));
    (offset, u32::from_le_bytes(index.try_into().expect("the last four bytes")))
}

/// Which messages are frames. The same properties as before are not read again.
#[derive(Default)]
pub(crate) struct MessageKinds<'a> {
    last: Option<(&'a [u8], bool)>,
}

impl<'a> MessageKinds<'a> {
    pub fn is_frame(&mut self, properties: &'a [u8]) -> bool {
        if let Some((last, is_frame)) = self.last
            && last == properties
        {
            return is_frame;
        }
        let read = Properties::of_publish(properties);
        let is_frame =
            read.is_ok_and(|read| read.text(PropertyId::ContentType) == Some(CONTENT_TYPE));
        self.last = Some((properties, is_frame));
        is_frame
    }
}

#[cfg(test)]
#[path = "decode_tests.rs"]
mod tests;
