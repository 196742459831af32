//! Numbers of eight bytes split into streams: the first byte of each, then the second of each, and so on.

/// Appends the streams.
pub(super) fn write_split(out: &mut Vec<u8>, numbers: &[u64]) {
    let (begin, count) = (out.len(), numbers.len());
    out.resize(begin + 8 * count, 0);
    let mut streams: Vec<&mut [u8]> = out[begin..].chunks_exact_mut(count.max(1)).collect();
    let eights = numbers.chunks_exact(8);
    let rest = eights.remainder();
    for (at, eight) in eights.enumerate() {
        let eight = eight.try_into().expect("exact chunks");
        for (stream, bytes) in streams.iter_mut().zip(transposed(eight)) {
            stream[8 * at..8 * at + 8].copy_from_slice(&bytes.to_le_bytes());
        }
    }
    let begin = count - rest.len();
    for (at, number) in rest.iter().enumerate() {
        for (stream, byte) in streams.iter_mut().zip(number.to_le_bytes()) {
            stream[begin + at] = byte;
        }
    }
}

/// Eight rows of eight bytes as columns: blocks of four bytes change places, then of two, then of one.
fn transposed(mut rows: [u64; 8]) -> [u64; 8] {
    for (distance, mask) in
        [(4, 0x0000_0000_ffff_ffff), (2, 0x0000_ffff_0000_ffff), (1, 0x00ff_00ff_00ff_00ff)]
    {
        let shift = 8 * distance;
        for at in (0..8).filter(|at| at & distance == 0) {
            let (low, high) = (rows[at], rows[at + distance]);
            rows[at] = low & mask | (high & mask) << shift;
            rows[at + distance] = low >> shift & mask | high & !mask;
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn each_stream_has_one_byte_of_each_number(
            numbers in prop::collection::vec(any::<u64>(), 0..40)
        ) {
            let mut found = vec![1];
            write_split(&mut found, &numbers);
            let mut expected = vec![1];
            for byte in 0..8 {
                expected.extend(numbers.iter().map(|number| number.to_le_bytes()[byte]));
            }
            prop_assert_eq!(found, expected);
        }
    }
}
