//! Reads from streams in memory: what is found, and what is held on to.

use super::*;

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
    let shared = inlet.large().unwrap().clone();
    let found = inlet.next(1 << 20).unwrap().unwrap();
    assert_eq!(shared.part(found.body).unwrap().len(), 100_000);
    assert_eq!(shared.len(), packet.len());
    inlet.consume(packet.len());
    assert_eq!(feed(&mut inlet, &packet), 1, "the next one is expected to be as long");
    assert_eq!(inlet.large().unwrap().len(), packet.len());
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
        assert!(inlet.large().is_none());
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
    assert!(matches!(inlet.large, Large::None));
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

#[test]
fn half_a_packet_waits_for_the_rest() {
    let mut inlet = Inlet::new();
    feed(&mut inlet, &[0xc0, 0x00, 0xc0]);
    inlet.consume(inlet.next(10).unwrap().unwrap().length);
    assert_eq!(inlet.next(10), Ok(None));
    feed(&mut inlet, &[0x00]);
    assert_eq!(inlet.next(10).unwrap().unwrap().length, 2);
}
