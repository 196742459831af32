//! WebSocket: requests that are refused, frames that end the connection, frames cut anyhow.

use std::io::Write;
use std::net::TcpStream;

use slipring_core::Limits;
use slipring_engine::{Engine, ListenerSettings};
use slipring_wire::{Packet, Publish, Version};

use crate::dial::{self, Web};
use crate::talk::{Talk, connect};
use crate::{engine, event, start};

const MQTT: &str = "Sec-WebSocket-Protocol: mqtt\r\n";

fn listener() -> ListenerSettings {
    ListenerSettings { websocket: true, ..ListenerSettings::tcp("web", "127.0.0.1:0") }
}

/// What a request is answered with.
fn answer(engine: &Engine, request: &str) -> String {
    let mut stream = dial::tcp(engine.address());
    let _ = stream.write_all(request.as_bytes());
    let _ = stream.shutdown(std::net::Shutdown::Write);
    String::from_utf8(dial::rest(&mut stream)).unwrap()
}

fn greet(engine: &Engine, client_id: &str) -> Talk<Web<TcpStream>> {
    dial::greet(dial::web(dial::tcp(engine.address())), client_id)
}

fn publish(topic: &str, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    Packet::Publish(Publish::new(topic, payload)).encode(Version::V5, &mut bytes);
    bytes
}

/// The close code and the event that answer these bytes from a client that is let in.
fn ended_by(bytes: &[u8]) -> (u16, String) {
    let engine = engine(listener());
    let mut client = greet(&engine, "client");
    let mut other = greet(&engine, "other");
    client.stream.stream.write_all(bytes).unwrap();
    let (start, payload) = client.stream.frame().unwrap();
    assert_eq!((start, payload.len()), (0x88, 2));
    dial::rest(&mut client.stream.stream);
    other.subscribe("t");
    other.publish("t", b"undisturbed");
    assert_eq!(other.message().1, "undisturbed");
    (u16::from_be_bytes([payload[0], payload[1]]), event(&engine, "WebSocket"))
}

#[test]
fn requests_that_are_no_websocket_for_mqtt_are_refused() {
    let engine = engine(listener());
    let good = dial::request(MQTT);
    let rows = [
        (good.replace("/mqtt", "/any/other/path"), "101"),
        (good.replace("GET", "POST"), "400"),
        (good.replace("Version: 13", "Version: 12"), "426"),
        (good.replace("Upgrade: websocket\r\n", ""), "426"),
        (dial::request(""), "400"),
        (dial::request("Sec-WebSocket-Protocol: amqp, mqttv3.1\r\n"), "400"),
        (good.replace(dial::KEY, "short"), "400"),
        (good.replace("/mqtt", &format!("/{}", "x".repeat(8192 + 4 - good.len()))), "101"),
        (good.replace("/mqtt", &format!("/{}", "x".repeat(8193 + 4 - good.len()))), "431"),
        (format!("GET /{}", "x".repeat(100_000)), "431"),
        ("\x10\x0c\0\x04MQTT".into(), "400"),
    ];
    for (request, status) in rows {
        let answer = answer(&engine, &request);
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{status}: {answer}");
    }
    event(&engine, "WebSocket: a request of more than 8192 bytes");
    greet(&engine, "still open");
}

#[test]
fn compression_is_never_agreed_on() {
    let engine = engine(listener());
    let asked = "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r\n";
    let answer = answer(&engine, &dial::request(&format!("{MQTT}{asked}")));
    assert!(answer.starts_with("HTTP/1.1 101 "), "{answer}");
    assert!(!answer.to_lowercase().contains("extensions"), "{answer}");
}

#[test]
fn pages_of_elsewhere_are_refused_unless_they_are_listed() {
    let request = dial::request(&format!("{MQTT}Origin: https://page.example\r\n"));
    let rows = [
        (vec![], "403"),
        (vec!["https://other.example".into()], "403"),
        (vec!["https://page.example".into()], "101"),
        (vec!["*".into()], "101"),
    ];
    for (origins, status) in rows {
        let engine = engine(ListenerSettings { origins, ..listener() });
        let answer = answer(&engine, &request);
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
        if status == "403" {
            assert_eq!(event(&engine, "page"), "WebSocket: a page of https://page.example");
        }
    }
    let local = dial::request(&format!("{MQTT}Origin: http://localhost:8080\r\n"));
    assert!(answer(&engine(listener()), &local).starts_with("HTTP/1.1 101 "));
}

#[test]
fn a_text_frame_ends_the_connection() {
    let (code, why) = ended_by(&[0x81, 0x80, 0, 0, 0, 0]);
    assert_eq!((code, why.contains("text frame")), (1003, true));
}

#[test]
fn an_unmasked_frame_ends_the_connection() {
    let (code, why) = ended_by(&[0x82, 2, 0xc0, 0]);
    assert_eq!((code, why.contains("not masked")), (1002, true));
}

#[test]
fn a_compressed_frame_ends_the_connection() {
    let (code, why) = ended_by(&[0xc2, 0x80, 0, 0, 0, 0]);
    assert_eq!((code, why.contains("reserved bits")), (1002, true));
}

#[test]
fn a_length_that_lies_ends_the_connection() {
    let lie = [0x82, 0xff, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0];
    let (code, why) = ended_by(&lie);
    assert_eq!((code, why.contains("larger than a packet")), (1009, true));
}

#[test]
fn a_frame_may_be_a_little_larger_than_a_packet_and_no_more() {
    let limits = Limits { packet_bytes: 1000, ..Limits::default() };
    let engine = start(vec![listener()], &limits).unwrap();
    let mut client = greet(&engine, "client");
    client.subscribe("t");
    let many = publish("t", &[b'x'; 500]).repeat(100);
    client.send_bytes(&many);
    (0..100).for_each(|_| assert_eq!(client.message().1.len(), 500));
    let too_many = 1000 + (64 << 10) + 1_u64;
    let mut header = vec![0x82, 0xff];
    header.extend(too_many.to_be_bytes());
    header.extend([0; 4]);
    client.stream.stream.write_all(&header).unwrap();
    assert_eq!(client.stream.frame().unwrap(), (0x88, vec![0x03, 0xf1]));
}

#[test]
fn a_frame_shorter_than_the_packet_it_claims_waits_for_the_rest() {
    // CVE-2026-25627: the packet's length was believed, the frame's was not looked at.
    let limits = Limits { connect_ms: 300, ..Limits::default() };
    let engine = start(vec![listener()], &limits).unwrap();
    let mut liar = dial::web(dial::tcp(engine.address()));
    liar.send(0x82, b"\x10\xff\xff\x00\x00\x04MQTT");
    let mut short = dial::web(dial::tcp(engine.address()));
    let whole = connect(Version::V5, "short", 60, None);
    short.send(0x82, &whole[..5]);
    let mut other = greet(&engine, "other");
    short.send(0x82, &whole[5..]);
    assert!(Talk::over(short, Version::V5).next().unwrap().starts_with("ConnAck"));
    dial::rest(&mut liar.stream);
    other.subscribe("t");
    other.publish("t", b"undisturbed");
    assert_eq!(other.message().1, "undisturbed");
}

#[test]
fn packets_may_span_frames_and_share_one() {
    let engine = engine(listener());
    let mut client = greet(&engine, "client");
    client.subscribe("t");
    let (one, two) = (publish("t", b"one"), publish("t", b"two"));
    client.stream.send(0x82, &[one.clone(), two.clone()].concat());
    client.stream.send(0x82, &one[..3]);
    client.stream.send(0x82, &[&one[3..], &two[..1]].concat());
    client.stream.send(0x82, b"");
    client.stream.send(0x82, &two[1..]);
    let got: Vec<String> = (0..4).map(|_| client.message().1).collect();
    assert_eq!(got, ["one", "two", "one", "two"]);
}

#[test]
fn a_message_may_come_in_fragments_with_a_ping_between_them() {
    let engine = engine(listener());
    let mut client = greet(&engine, "client");
    client.subscribe("t");
    let packet = publish("t", b"whole");
    client.stream.send(0x02, &packet[..2]);
    client.stream.send(0x89, b"there?");
    assert_eq!(client.stream.frame().unwrap(), (0x8a, b"there?".to_vec()));
    client.stream.send(0x00, &packet[2..4]);
    client.stream.send(0x80, &packet[4..]);
    assert_eq!(client.message().1, "whole");
}

#[test]
fn a_close_is_answered_and_the_client_is_gone() {
    let engine = engine(listener());
    let mut client = greet(&engine, "client");
    client.stream.send(0x88, &1000_u16.to_be_bytes());
    assert_eq!(client.stream.frame().unwrap(), (0x88, vec![0x03, 0xe8]));
    event(&engine, "closed the connection");
}

#[test]
fn a_stopping_broker_says_goodbye_in_both_languages() {
    let engine = engine(listener());
    let mut client = greet(&engine, "client");
    engine.stop().unwrap();
    assert!(client.next().unwrap().contains("ServerShuttingDown"));
    assert_eq!(client.stream.frame().unwrap(), (0x88, vec![0x03, 0xe8]));
}
