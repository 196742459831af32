//! The stream over a pipe that takes few bytes at a time.

use std::io::IoSlice;

use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

use crate::stream::WebSocket;

const MAX: u64 = 1 << 20;

/// A frame as a client sends it, with a mask of zeros.
fn client_frame(start: u8, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![start, 0x80 | payload.len() as u8, 0, 0, 0, 0];
    frame.extend_from_slice(payload);
    frame
}

/// The payload of the binary frames in what a server sent, and the starts of the others.
fn server_frames(mut bytes: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let (mut data, mut others) = (Vec::new(), Vec::new());
    while let [start, length, rest @ ..] = bytes {
        let (length, rest) = match length {
            126 => (usize::from(u16::from_be_bytes([rest[0], rest[1]])), &rest[2..]),
            length => (usize::from(*length), rest),
        };
        let (payload, rest) = rest.split_at(length);
        bytes = rest;
        match start {
            0x82 => data.extend_from_slice(payload),
            start => others.push(*start),
        }
    }
    (data, others)
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

#[test]
fn one_write_is_one_frame() {
    block_on(async {
        let (ours, mut theirs) = duplex(1 << 20);
        let mut socket = WebSocket::server(ours, Vec::new(), MAX);
        socket.write_all(&[7; 1000]).await.unwrap();
        drop(socket);
        let mut got = Vec::new();
        theirs.read_to_end(&mut got).await.unwrap();
        assert_eq!(got[..4], [0x82, 126, 0x03, 0xe8]);
        assert_eq!(got[4..], [7; 1000]);
    });
}

#[test]
fn one_vectored_write_is_one_frame_even_if_the_pipe_takes_few_bytes() {
    for width in [1, 5, 1 << 20] {
        block_on(async {
            let (ours, mut theirs) = duplex(width);
            let mut socket = WebSocket::server(ours, Vec::new(), MAX);
            let sent = [vec![1; 20], vec![2; 30_000], vec![], vec![3; 50_000]];
            let write = async {
                let mut rest = sent.concat();
                while !rest.is_empty() {
                    let (first, second) = rest.split_at(rest.len().min(20));
                    let slices = [IoSlice::new(first), IoSlice::new(&[]), IoSlice::new(second)];
                    let count = socket.write_vectored(&slices).await.unwrap();
                    rest.drain(..count);
                }
                drop(socket);
            };
            let mut got = Vec::new();
            let ((), read) = tokio::join!(write, theirs.read_to_end(&mut got));
            read.unwrap();
            let (data, others) = server_frames(&got);
            assert_eq!(data, sent.concat());
            assert!(others.is_empty());
            assert_eq!(got.len(), data.len() + 2 * 4, "two frames: one is not larger than 65,535");
        });
    }
}

#[test]
fn writes_through_a_narrow_pipe_keep_their_bytes_and_pongs_wait_for_a_frame_to_end() {
    for width in [1, 3, 5, 4000] {
        block_on(async {
            let (ours, theirs) = duplex(width);
            let socket = WebSocket::server(ours, Vec::new(), MAX);
            let (mut reader, mut writer) = tokio::io::split(socket);
            let sent: Vec<u8> = (0..70_000_u32).map(|number| number as u8).collect();
            let expected = sent.clone();
            let (mut their_reader, mut their_writer) = tokio::io::split(theirs);
            let write = async {
                writer.write_all(&sent).await.unwrap();
                writer.shutdown().await.unwrap();
            };
            let read = async {
                let mut got = Vec::new();
                let _ = reader.read_to_end(&mut got).await;
                assert_eq!(got, b"data");
            };
            let their_write = async {
                let mut bytes = client_frame(0x89, b"ping");
                bytes.extend(client_frame(0x82, b"data"));
                their_writer.write_all(&bytes).await.unwrap();
                their_writer.shutdown().await.unwrap();
            };
            let mut got = Vec::new();
            let their_read = their_reader.read_to_end(&mut got);
            let _ = tokio::join!(write, read, their_write, their_read);
            let (data, others) = server_frames(&got);
            assert_eq!((data == expected, others), (true, vec![0x8a, 0x88]), "{width}");
        });
    }
}

#[test]
fn bytes_that_came_with_the_request_are_read_first() {
    block_on(async {
        let (ours, mut theirs) = duplex(100);
        let early = client_frame(0x82, b"early ");
        let mut socket = WebSocket::server(ours, early, MAX);
        theirs.write_all(&client_frame(0x82, b"bird")).await.unwrap();
        theirs.shutdown().await.unwrap();
        let mut got = Vec::new();
        let mut few = [0; 4];
        while let count @ 1.. = socket.read(&mut few).await.unwrap() {
            got.extend_from_slice(&few[..count]);
        }
        assert_eq!(got, b"early bird");
    });
}

#[test]
fn a_close_is_answered_and_ends_the_stream() {
    block_on(async {
        let (ours, mut theirs) = duplex(100);
        let mut socket = WebSocket::server(ours, Vec::new(), MAX);
        theirs.write_all(&client_frame(0x88, &[3, 232])).await.unwrap();
        assert_eq!(socket.read(&mut [0; 10]).await.unwrap(), 0);
        assert!(socket.write(b"too late").await.is_err());
        drop(socket);
        let mut got = Vec::new();
        theirs.read_to_end(&mut got).await.unwrap();
        assert_eq!(got, [0x88, 2, 3, 232]);
    });
}

#[test]
fn a_violation_is_an_error_and_tells_the_client_its_code() {
    block_on(async {
        let (ours, mut theirs) = duplex(100);
        let mut socket = WebSocket::server(ours, Vec::new(), MAX);
        theirs.write_all(&client_frame(0x81, b"text")).await.unwrap();
        let error = socket.read(&mut [0; 10]).await.unwrap_err();
        assert_eq!(error.to_string(), "WebSocket: a text frame; MQTT needs binary ones");
        drop(socket);
        let mut got = Vec::new();
        theirs.read_to_end(&mut got).await.unwrap();
        assert_eq!(got, [0x88, 2, 0x03, 0xeb]);
    });
}

#[test]
fn two_sides_understand_each_other_through_a_narrow_pipe() {
    for width in [1, 7, 4000, 1 << 20] {
        block_on(async {
            let (ours, theirs) = duplex(width);
            let (mut server_reads, mut server_writes) =
                tokio::io::split(WebSocket::server(ours, Vec::new(), MAX));
            let (mut client_reads, mut client_writes) =
                tokio::io::split(WebSocket::client(theirs, Vec::new(), MAX));
            let sent: Vec<u8> = (0..140_000_u32).map(|number| (number / 7) as u8).collect();
            let up = async {
                client_writes.write_all(&sent).await.unwrap();
                client_writes.flush().await.unwrap();
            };
            let down = async {
                server_writes.write_all(&sent).await.unwrap();
                server_writes.flush().await.unwrap();
            };
            let (mut at_server, mut at_client) = (vec![0; sent.len()], vec![0; sent.len()]);
            let read_up = server_reads.read_exact(&mut at_server);
            let read_down = client_reads.read_exact(&mut at_client);
            let ((), (), read_up, read_down) = tokio::join!(up, down, read_up, read_down);
            assert_eq!((read_up.unwrap(), read_down.unwrap()), (sent.len(), sent.len()));
            assert!(at_server == sent && at_client == sent, "{width}");
            let (end, _) =
                tokio::join!(server_reads.read(&mut at_server), client_writes.shutdown());
            assert_eq!(end.unwrap(), 0);
        });
    }
}

#[test]
fn a_client_masks_all_it_sends_each_frame_in_another_way() {
    block_on(async {
        let (ours, mut theirs) = duplex(1000);
        let mut socket = WebSocket::client(ours, Vec::new(), MAX);
        theirs.write_all(&[0x89, 1, b'?']).await.unwrap();
        for _ in 0..2 {
            socket.write_all(&[0; 8]).await.unwrap();
        }
        theirs.write_all(&[0x82, 2, b'o', b'k']).await.unwrap();
        let mut read = [0; 9];
        assert_eq!(socket.read(&mut read).await.unwrap(), 2);
        socket.shutdown().await.unwrap();
        let mut got = Vec::new();
        drop(socket);
        theirs.read_to_end(&mut got).await.unwrap();
        let starts: Vec<_> = [0, 14, 28, 35].map(|at| (got[at], got[at + 1])).into();
        assert_eq!(starts, [(0x82, 0x88), (0x82, 0x88), (0x8a, 0x81), (0x88, 0x82)]);
        assert_ne!(got[2..6], got[16..20], "the masks");
        assert_eq!(got[2..6], got[6..10], "zeros are the mask itself");
    });
}

#[test]
fn a_server_that_masks_is_not_one() {
    block_on(async {
        let (ours, mut theirs) = duplex(1000);
        let mut socket = WebSocket::client(ours, Vec::new(), MAX);
        theirs.write_all(&client_frame(0x82, b"data")).await.unwrap();
        let error = socket.read(&mut [0; 10]).await.unwrap_err();
        assert_eq!(error.to_string(), "WebSocket: a server's frame that is masked");
    });
}
