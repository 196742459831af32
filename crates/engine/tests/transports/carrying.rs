//! Messages cross between all kinds of listeners.

use std::io::{Read, Write};
use std::net::SocketAddr;
use std::os::unix::net::UnixStream;

use slipring_core::Limits;
use slipring_engine::{BoundAddress, Engine, ListenerSettings};

use crate::papers::Files;
use crate::talk::Talk;
use crate::{dial, engine, start};

fn port(engine: &Engine, listener: usize) -> SocketAddr {
    match engine.addresses()[listener] {
        BoundAddress::Tcp(address) => address,
        BoundAddress::Unix(_) => panic!("not a port"),
    }
}

/// A message from here to there, and one back.
fn cross<A: Read + Write, B: Read + Write>(here: &mut Talk<A>, there: &mut Talk<B>, topic: &str) {
    there.subscribe(&format!("{topic}/there"));
    here.subscribe(&format!("{topic}/here"));
    here.publish(&format!("{topic}/there"), &vec![b'a'; 40_000]);
    assert_eq!(there.message().1.len(), 40_000);
    there.publish(&format!("{topic}/here"), b"back");
    assert_eq!(here.message(), (format!("{topic}/here"), "back".into()));
}

#[test]
fn every_transport_carries_messages_to_and_from_every_other() {
    let files = Files::new("carrying");
    let socket = files.folder.file("mqtt.sock");
    let web =
        |name| ListenerSettings { websocket: true, ..ListenerSettings::tcp(name, "127.0.0.1:0") };
    let secure = |listener| ListenerSettings { tls: Some(files.tls()), ..listener };
    let listeners = vec![
        ListenerSettings::unix("local", &socket),
        ListenerSettings::tcp("mqtt", "127.0.0.1:0"),
        secure(ListenerSettings::tcp("secure", "127.0.0.1:0")),
        web("web"),
        secure(web("secure web")),
    ];
    let engine = start(listeners, &Limits::default()).unwrap();
    assert_eq!(engine.address(), port(&engine, 1), "the first on TCP");
    let config = files.authority.client(None);

    let mut unix = dial::greet(UnixStream::connect(&socket).unwrap(), "unix");
    let mut tcp = dial::greet(dial::tcp(port(&engine, 1)), "tcp");
    let mut tls = dial::greet(dial::tls(port(&engine, 2), &config), "tls");
    let mut ws = dial::greet(dial::web(dial::tcp(port(&engine, 3))), "ws");
    let mut wss = dial::greet(dial::web(dial::tls(port(&engine, 4), &config)), "wss");

    cross(&mut unix, &mut tcp, "1");
    cross(&mut tcp, &mut tls, "2");
    cross(&mut tls, &mut ws, "3");
    cross(&mut ws, &mut wss, "4");
    cross(&mut wss, &mut unix, "5");

    let clients = engine.clients(10);
    assert_eq!(clients[0].address, format!("unix:{}", socket.display()));
    assert_eq!(clients[1].address, tcp.stream.local_addr().unwrap().to_string());
}

#[test]
fn ipv6_is_listened_on() {
    let engine = engine(ListenerSettings::tcp("six", "[::1]:0"));
    let address = engine.addresses()[0].to_string();
    assert!(address.starts_with("[::1]:"), "{address}");
    let mut client = dial::greet(dial::tcp(address.parse().unwrap()), "six");
    client.subscribe("t");
    client.publish("t", b"six");
    assert_eq!(client.message().1, "six");
}

#[test]
fn an_ipv4_client_of_an_ipv6_listener_is_shown_with_its_ipv4_address() {
    let engine = engine(ListenerSettings::tcp("both", "[::]:0"));
    let address = SocketAddr::from(([127, 0, 0, 1], engine.address().port()));
    let client = dial::greet(dial::tcp(address), "four");
    let shown = &engine.clients(1)[0].address;
    assert_eq!(*shown, client.stream.local_addr().unwrap().to_string());
}

#[test]
fn more_than_one_frame_holds_reaches_a_websocket_whole() {
    let engine =
        engine(ListenerSettings { websocket: true, ..ListenerSettings::tcp("web", "127.0.0.1:0") });
    let mut client = dial::greet(dial::web(dial::tcp(engine.address())), "client");
    client.subscribe("big");
    let mut bytes = Vec::new();
    slipring_wire::Packet::Publish(slipring_wire::Publish::new("big", &vec![b'x'; 300_000]))
        .encode(client.version, &mut bytes);
    for part in bytes.chunks(50_000) {
        client.send_bytes(part);
    }
    assert_eq!(client.message().1.len(), 300_000);
}
