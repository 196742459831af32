//! The newest numbers of one origin: a bit for each that was taken. Its work for a number is at most one pass over the
//! bits, 64 at a time, however far the number leaps.

use std::ops::Range;

use crate::arrivals::MessageArrival;

const WORD_BITS: u64 = u64::BITS as u64;

/// Numbers from `next - window` to `next`; those before are decided.
#[derive(Debug)]
pub(crate) struct ArrivalWindow {
    start: u64,
    /// Behind the greatest number so far.
    next: u64,
    /// The first number ever; what is before it is not missed.
    missed_from: Option<u64>,
    /// The bit of a number is at its remainder by the window.
    taken: Box<[u64]>,
}

impl ArrivalWindow {
    pub fn new(start: u64, window: usize) -> Self {
        let words = window.div_ceil(WORD_BITS as usize).max(1);
        Self { start, next: 0, missed_from: None, taken: vec![0; words].into() }
    }

    /// Which start of the origin the numbers belong to.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// Takes a number if it is new; tells the numbers that are lost by it.
    pub fn take(&mut self, number: u64, lost: &mut impl FnMut(Range<u64>)) -> MessageArrival {
        let Some(next) = number.checked_add(1) else { return MessageArrival::TooLate };
        if number < self.next.saturating_sub(self.window()) {
            return MessageArrival::TooLate;
        }
        self.missed_from.get_or_insert(number);
        if next > self.next {
            self.advance(next, lost);
        }
        let (word, bit) = self.place(number);
        let mask = 1 << bit;
        let is_new = self.taken[word] & mask == 0;
        self.taken[word] |= mask;
        if is_new { MessageArrival::New } else { MessageArrival::Repeated }
    }

    /// Tells every number as lost that was not taken.
    pub fn end(&self, lost: &mut impl FnMut(Range<u64>)) {
        self.tell_missing(self.next.saturating_sub(self.window())..self.next, lost);
    }

    fn window(&self) -> u64 {
        self.taken.len() as u64 * WORD_BITS
    }

    fn place(&self, number: u64) -> (usize, u64) {
        let at = number % self.window();
        ((at / WORD_BITS) as usize, at % WORD_BITS)
    }

    fn advance(&mut self, next: u64, lost: &mut impl FnMut(Range<u64>)) {
        let (first, end) =
            (self.next.saturating_sub(self.window()), next.saturating_sub(self.window()));
        self.tell_missing(first..end.min(self.next), lost);
        self.tell(self.next..end, lost);
        let entering = (next - self.next).min(self.window());
        self.clear(next - entering..next);
        self.next = next;
    }

    fn tell_missing(&self, mut range: Range<u64>, lost: &mut impl FnMut(Range<u64>)) {
        while !range.is_empty() {
            let (is_taken, length) = self.run(range.start);
            let end = range.end.min(range.start + length);
            if !is_taken {
                self.tell(range.start..end, lost);
            }
            range.start = end;
        }
    }

    fn tell(&self, range: Range<u64>, lost: &mut impl FnMut(Range<u64>)) {
        let missed = range.start.max(self.missed_from.unwrap_or(0))..range.end;
        if !missed.is_empty() {
            lost(missed);
        }
    }

    /// Whether a number was taken, and how many numbers from it on, in its word, are as it is.
    fn run(&self, number: u64) -> (bool, u64) {
        let (word, bit) = self.place(number);
        let rest = self.taken[word] >> bit;
        match rest.trailing_ones() {
            0 => (false, u64::from(rest.trailing_zeros()).min(WORD_BITS - bit)),
            taken => (true, u64::from(taken)),
        }
    }

    fn clear(&mut self, mut range: Range<u64>) {
        while !range.is_empty() {
            let (word, bit) = self.place(range.start);
            let length = (WORD_BITS - bit).min(range.end - range.start);
            let ones = u64::MAX >> (WORD_BITS - length);
            self.taken[word] &= !(ones << bit);
            range.start += length;
        }
    }
}
