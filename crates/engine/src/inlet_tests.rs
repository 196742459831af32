//! Reads from streams in memory: what is found, and what is held on to.

use super::*;
use tokio::io::AsyncWriteExt;

/// Reads as often as it takes; how often that was.
fn feed(inlet: &mut Inlet, mut bytes: &[u8]) -> usize {
    let mut cx = Context::from_waker(std::task::Waker::noop());
    let mut reads = 0;
    while !bytes.is_empty() {
        let before = bytes.len();
        assert!(matches!(inlet.poll_read(&mut bytes, &mut cx), Poll::Ready(Ok(_))));
        assert!(bytes.len() < before);
        reads += 1;
        if let Ok(Some(whole)) = inlet.next(usize::MAX) {
            assert!(bytes.is_empty() || whole.length < 100);
        }
    }
    reads
}

fn large(bytes: usize) -> Vec<u8> {
    let mut packet = vec![0x30, 0xa0, 0x8d, 0x06]; // 100,000 bytes follow
    assert_eq!(bytes, 100_000);
    packet.extend(vec![7; bytes]);
    packet
}

#[test]
fn packets_larger_than_the_buffer_come_out_whole() {
    let mut inlet = Inlet::new();
    let packet = large(100_000);
    for _ in 0..3 {
        feed(&mut inlet, &packet);
        let found = inlet.next(1 << 20).unwrap().unwrap();
        assert_eq!((found.length, found.body), (packet.len(), &packet[4..]));
        inlet.consume(packet.len());
    }
    inlet.rest_after(1);
    assert_eq!(inlet.bytes.capacity(), BYTES_MIN);
}

#[test]
fn a_large_packet_has_a_buffer_of_its_length_that_can_be_shared() {
    let mut inlet = Inlet::new();
    let packet = large(100_000);
    feed(&mut inlet, &packet);
    let shared = inlet.shared().unwrap().clone();
    let found = inlet.next(1 << 20).unwrap().unwrap();
    assert_eq!(shared.part(found.body).unwrap().len(), 100_000);
    assert_eq!(shared.len(), packet.len());
    inlet.consume(packet.len());
    assert_eq!(feed(&mut inlet, &packet), 1, "the next one is expected to be as long");
    assert_eq!(inlet.shared().unwrap().len(), packet.len());
}

#[test]
fn a_packet_that_is_shorter_than_the_last_one_does_not_keep_its_buffer() {
    let mut inlet = Inlet::new();
    let packet = large(100_000);
    for next in [&[0xc0, 0x00][..], &[&[0x30, 0xbc, 0x80, 0x02], &vec![7; 32_828][..]].concat()] {
        feed(&mut inlet, &packet);
        inlet.consume(packet.len());
        feed(&mut inlet, next);
        assert_eq!(inlet.next(1 << 20).unwrap().unwrap().length, next.len());
        assert!(inlet.shared().is_none());
        inlet.consume(next.len());
        assert_eq!(inlet.len(), 0);
        inlet.rest_after(1);
        assert_eq!(inlet.counted.bytes(), BYTES_MIN);
    }
}

#[test]
fn a_quiet_connection_holds_no_room_for_what_it_expects() {
    let mut inlet = Inlet::new();
    let packet = large(100_000);
    feed(&mut inlet, &packet);
    inlet.consume(packet.len());
    inlet.rest_after(1);
    let (mut nobody, _writer) = tokio::io::duplex(1);
    let mut cx = Context::from_waker(std::task::Waker::noop());
    assert!(inlet.poll_read(&mut nobody, &mut cx).is_pending());
    assert!(matches!(inlet.apart, Apart::None));
    assert_eq!(inlet.counted.bytes(), BYTES_MIN);
}

#[test]
fn a_buffer_grows_with_what_has_arrived_and_not_with_what_was_announced() {
    let mut inlet = Inlet::new();
    feed(&mut inlet, &[0x30, 0xff, 0xff, 0xff, 0x7f]); // 256 MiB follow
    feed(&mut inlet, &[7; 1_000]);
    assert!(inlet.counted.bytes() <= 2 * LARGE_READ_MAX, "{}", inlet.counted.bytes());
    inlet.clear();
    assert_eq!(inlet.counted.bytes(), BYTES_MIN);
}

/// A packet of 16,000 bytes behind its head of 3.
fn middle(filling: u8) -> Vec<u8> {
    [vec![0x30, 0x80, 0x7d], vec![filling; 16_000]].concat()
}

/// Takes every whole packet; what fills each, and the bytes of the buffer that is shared.
fn take_all(inlet: &mut Inlet) -> Vec<(u8, usize)> {
    let mut taken = Vec::new();
    while let Some(found) = inlet.next(1 << 20).unwrap() {
        let (length, filling) = (found.length, found.body[0]);
        assert!(found.body.iter().all(|byte| *byte == filling));
        let shared = inlet.shared();
        assert!(shared.is_none_or(|shared| shared.part(found.body).is_some()));
        taken.push((filling, shared.map_or(0, SharedBytes::held_bytes)));
        inlet.consume(length);
    }
    taken
}

#[test]
fn packets_of_middle_length_are_read_into_one_buffer_that_can_be_shared() {
    let mut inlet = Inlet::new();
    feed(&mut inlet, &middle(0));
    assert_eq!(take_all(&mut inlet), [(0, 0)], "the first is not expected");
    let mut cx = Context::from_waker(std::task::Waker::noop());
    let stream: Vec<u8> = (1..100).flat_map(middle).collect();
    let (mut rest, mut taken, mut reads) = (&stream[..], Vec::new(), 0);
    while !rest.is_empty() {
        assert!(matches!(inlet.poll_read(&mut rest, &mut cx), Poll::Ready(Ok(1..))));
        taken.extend(take_all(&mut inlet));
        reads += 1;
    }
    assert_eq!(
        taken.iter().map(|(filling, _)| *filling).collect::<Vec<_>>(),
        (1..100).collect::<Vec<_>>()
    );
    assert!(taken.iter().all(|(_, held)| (BYTES_READ_MAX..=2 * LARGE_READ_MAX).contains(held)));
    assert!(reads < 10, "{reads} reads for {} bytes", stream.len());
    assert!(matches!(inlet.apart, Apart::None));
}

#[test]
fn half_a_packet_of_middle_length_holds_no_more_than_itself() {
    let mut inlet = Inlet::new();
    let (mut far, mut near) = tokio::io::duplex(1 << 20);
    let mut cx = Context::from_waker(std::task::Waker::noop());
    let sent = [middle(1), middle(2), middle(3)[..9_000].to_vec()].concat();
    for part in [&sent[..16_003], &sent[16_003..]] {
        assert!(matches!(pin!(far.write_all(part)).poll(&mut cx), Poll::Ready(Ok(()))));
        while inlet.poll_read(&mut near, &mut cx).is_ready() {
            take_all(&mut inlet);
        }
    }
    assert!(inlet.shared().is_none());
    assert_eq!(inlet.len(), 9_000);
    assert!(inlet.counted.bytes() <= BYTES_READ_MAX, "{}", inlet.counted.bytes());
}

#[test]
fn a_packet_that_is_too_large_is_refused_with_its_first_bytes_also_behind_a_large_one() {
    let mut inlet = Inlet::new();
    let packet = large(100_000);
    feed(&mut inlet, &packet);
    inlet.consume(packet.len());
    feed(&mut inlet, &[0x30, 0xff, 0xff, 0xff, 0x7f, 0x00]); // 256 MiB follow
    assert!(inlet.next(1 << 20).is_err());
}

#[test]
fn half_a_packet_waits_for_the_rest() {
    let mut inlet = Inlet::new();
    feed(&mut inlet, &[0xc0, 0x00, 0xc0]);
    inlet.consume(inlet.next(10).unwrap().unwrap().length);
    assert_eq!(inlet.next(10), Ok(None));
    feed(&mut inlet, &[0x00]);
    assert_eq!(inlet.next(10).unwrap().unwrap().length, 2);
}
