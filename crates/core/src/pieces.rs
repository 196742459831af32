//! The pieces that waiting packets are made of, in their order, and the memory that they take.

use std::collections::VecDeque;

use crate::shared_bytes::SharedBytes;

/// A list that was once longer than this does not keep its room.
const RESTING_PIECES: usize = 64;

#[derive(Debug)]
pub(crate) enum Piece {
    /// Whole packets; the last one may go on in a shared piece. How many packets begin here.
    Chunk(Vec<u8>, u32),
    /// The payload of the packet that begins at the end of the chunk before.
    Shared(SharedBytes),
}

impl Piece {
    pub fn bytes(&self) -> &[u8] {
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
    /// The capacity of the buffers that the shared payloads are in. Payloads in one buffer count once where each
    /// follows the other, with at most one chunk between them: the heads of packets that were read together.
    buffers_bytes: usize,
}

impl Pieces {
    /// Bytes of all pieces.
    #[inline]
    pub fn len(&self) -> usize {
        self.bytes
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = &Piece> {
        self.queue.iter()
    }

    #[inline]
    pub fn front(&self) -> Option<&Piece> {
        self.queue.front()
    }

    pub fn second(&self) -> Option<&Piece> {
        self.queue.get(1)
    }

    pub fn count(&self) -> usize {
        self.queue.len()
    }

    pub fn push(&mut self, piece: Piece) {
        self.bytes += piece.bytes().len();
        match &piece {
            Piece::Chunk(chunk, _) => self.chunks_bytes += chunk.capacity(),
            Piece::Shared(part) => self.buffers_bytes += self.new_bytes(part),
        }
        self.queue.push_back(piece);
    }

    pub fn pop(&mut self) -> Option<Piece> {
        let piece = self.queue.pop_front()?;
        self.bytes -= piece.bytes().len();
        match &piece {
            Piece::Chunk(chunk, _) => self.chunks_bytes -= chunk.capacity(),
            Piece::Shared(part) if is_beside(part, self.queue.iter()) => {}
            Piece::Shared(part) => self.buffers_bytes -= part.held_bytes(),
        }
        Some(piece)
    }

    /// A packet that begins in the first piece is gone.
    pub fn forget_packet(&mut self) {
        if let Some(Piece::Chunk(_, packets)) = self.queue.front_mut() {
            *packets -= 1;
        }
    }

    /// Cuts bytes off the first piece.
    pub fn cut_front(&mut self, bytes: usize) {
        match self.queue.front_mut() {
            Some(Piece::Chunk(chunk, _)) => drop(chunk.drain(..bytes)),
            Some(Piece::Shared(payload)) => payload.advance(bytes),
            None => return,
        }
        self.bytes -= bytes;
    }

    /// Forgets everything; a short list keeps its room.
    pub fn clear(&mut self) {
        let mut queue = std::mem::take(&mut self.queue);
        queue.clear();
        *self = Self::default();
        if queue.capacity() <= RESTING_PIECES {
            self.queue = queue;
        }
    }

    /// Bytes of memory that the pieces and their list take. A shared payload counts itself.
    pub fn own_bytes(&self) -> usize {
        self.chunks_bytes + self.queue.capacity() * size_of::<Piece>()
    }

    /// Bytes of memory of the chunks.
    #[cfg(test)]
    pub fn chunks_bytes(&self) -> usize {
        self.chunks_bytes
    }

    /// Bytes of the buffers that are held, if a part of this one is added.
    pub fn buffers_bytes_with(&self, part: &SharedBytes) -> usize {
        self.buffers_bytes + self.new_bytes(part)
    }

    /// What a part of this buffer holds that the last one does not.
    fn new_bytes(&self, part: &SharedBytes) -> usize {
        if is_beside(part, self.queue.iter().rev()) { 0 } else { part.held_bytes() }
    }
}

/// Whether the next payload, with at most one chunk before it, is in the same buffer.
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
        fn no_buffer_that_is_held_is_forgotten_and_none_is_left(
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
