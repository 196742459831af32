//! The pieces of waiting packets in their order, and the memory that they use.

use std::collections::VecDeque;

use crate::shared_bytes::SharedBytes;

/// A list that was longer than this is freed when it is empty.
const RESTING_PIECES: usize = 64;

#[derive(Debug)]
pub(crate) enum Piece {
    /// Packets, and how many of them begin here. The payload of the last one may be the next piece.
    Chunk(Vec<u8>, u32),
    /// The payload of the packet that begins at the end of the chunk before.
    Shared(SharedBytes),
}

impl Piece {
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Self::Chunk(bytes, _) => bytes,
            Self::Shared(bytes) => bytes,
        }
    }

    fn shared(&self) -> Option<&SharedBytes> {
        match self {
            Self::Chunk(..) => None,
            Self::Shared(bytes) => Some(bytes),
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Pieces {
    queue: VecDeque<Piece>,
    /// Bytes of all pieces.
    bytes: usize,
    /// The capacity of the chunks.
    chunks_bytes: usize,
    /// The capacity of the buffers that hold the shared payloads. Neighbouring payloads in one buffer count it once;
    /// one chunk, the head of a packet, may lie between them.
    buffers_bytes: usize,
}

impl Pieces {
    /// Bytes of all pieces.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.bytes
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Piece> {
        self.queue.iter()
    }

    #[inline]
    pub(crate) fn front(&self) -> Option<&Piece> {
        self.queue.front()
    }

    pub(crate) fn push(&mut self, piece: Piece) {
        self.bytes += piece.bytes().len();
        match &piece {
            Piece::Chunk(chunk, _) => self.chunks_bytes += chunk.capacity(),
            Piece::Shared(part) => self.buffers_bytes += self.new_bytes(part),
        }
        self.queue.push_back(piece);
    }

    pub(crate) fn pop(&mut self) -> Option<Piece> {
        let piece = self.queue.pop_front()?;
        self.bytes -= piece.bytes().len();
        match &piece {
            Piece::Chunk(chunk, _) => self.chunks_bytes -= chunk.capacity(),
            Piece::Shared(part) if is_beside(part, self.queue.iter()) => {}
            Piece::Shared(part) => self.buffers_bytes -= part.held_bytes(),
        }
        Some(piece)
    }

    /// Counts one packet less in the first piece.
    pub(crate) fn forget_packet(&mut self) {
        if let Some(Piece::Chunk(_, packets)) = self.queue.front_mut() {
            *packets -= 1;
        }
    }

    /// Removes bytes from the front of the first piece.
    pub(crate) fn cut_front(&mut self, bytes: usize) {
        match self.queue.front_mut() {
            Some(Piece::Chunk(chunk, _)) => drop(chunk.drain(..bytes)),
            Some(Piece::Shared(payload)) => payload.advance(bytes),
            None => return,
        }
        self.bytes -= bytes;
    }

    /// Removes everything, but keeps a short list allocated.
    pub(crate) fn clear(&mut self) {
        let mut queue = std::mem::take(&mut self.queue);
        queue.clear();
        *self = Self::default();
        if queue.capacity() <= RESTING_PIECES {
            self.queue = queue;
        }
    }

    /// Memory of the chunks and of the list. A shared payload counts itself.
    pub(crate) fn own_bytes(&self) -> usize {
        self.chunks_bytes + self.queue.capacity() * size_of::<Piece>()
    }

    /// Memory of the chunks.
    #[cfg(test)]
    pub fn chunks_bytes(&self) -> usize {
        self.chunks_bytes
    }

    /// Bytes of all buffers that parts are kept of, with this part added.
    pub(crate) fn buffers_bytes_with(&self, part: &SharedBytes) -> usize {
        self.buffers_bytes + self.new_bytes(part)
    }

    /// Bytes that the part adds: none if the last payload is in the same buffer.
    fn new_bytes(&self, part: &SharedBytes) -> usize {
        if is_beside(part, self.queue.iter().rev()) { 0 } else { part.held_bytes() }
    }
}

/// Whether the first payload of `next`, behind at most one chunk, is in the same buffer.
fn is_beside<'a>(part: &SharedBytes, next: impl Iterator<Item = &'a Piece>) -> bool {
    let next = next.take(2).find_map(Piece::shared);
    next.is_some_and(|next| next.is_beside(part))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Clone, Debug)]
    enum Step {
        Push(Option<usize>),
        Pop,
        Clear,
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            8 => prop::option::of(0usize..3).prop_map(Step::Push),
            4 => Just(Step::Pop),
            1 => Just(Step::Clear),
        ]
    }

    proptest! {
        #[test]
        fn every_buffer_counts_while_a_part_of_it_is_kept(
            steps in prop::collection::vec(step(), 1..100)
        ) {
            let buffers: Vec<_> =
                (1..4).map(|kib| SharedBytes::from(vec![0; kib << 10])).collect();
            let mut pieces = Pieces::default();
            for step in steps {
                match step {
                    Step::Push(None) => pieces.push(Piece::Chunk(vec![0; 10], 1)),
                    Step::Push(Some(of)) => {
                        let part = buffers[of].part(&buffers[of][..9]).unwrap();
                        let with = pieces.buffers_bytes_with(&part);
                        pieces.push(Piece::Shared(part));
                        prop_assert_eq!(pieces.buffers_bytes, with);
                    }
                    Step::Pop => drop(pieces.pop()),
                    Step::Clear => pieces.clear(),
                }
                let is_held = |buffer: &&SharedBytes| {
                    pieces.iter().filter_map(Piece::shared).any(|part| part.is_beside(buffer))
                };
                let held = buffers.iter().filter(is_held).map(SharedBytes::held_bytes);
                prop_assert!(pieces.buffers_bytes >= held.sum());
                prop_assert_eq!(pieces.len(), pieces.iter().map(|piece| piece.bytes().len()).sum::<usize>());
            }
            while pieces.pop().is_some() {}
            prop_assert_eq!((pieces.len(), pieces.chunks_bytes, pieces.buffers_bytes), (0, 0, 0));
        }
    }
}
