//! How many may come in, how long they may take, and that one door's trouble stays there.

use std::io::Write;

use slipring_core::{Limits, Plan};
use slipring_engine::ListenerSettings;
use slipring_wire::Version;

use crate::papers::{self, Files};
use crate::talk::Talk;
use crate::{dial, event, refusal, start};

#[test]
fn a_listener_has_its_own_limit_and_a_place_is_free_again() {
    let narrow = ListenerSettings::tcp("narrow", "127.0.0.1:0");
    let wide = ListenerSettings::tcp("wide", "127.0.0.1:0");
    let engine = start(vec![narrow, wide], &Limits::default()).unwrap();
    let listeners = vec![Limits { connections: 2, ..Limits::default() }];
    engine.apply(Plan { listeners, ..Plan::default() });
    let wide = engine.addresses()[1].to_string().parse().unwrap();
    let first = Talk::connect(engine.address(), Version::V5, "1");
    let _second = Talk::connect(engine.address(), Version::V311, "2");
    assert!(!dial::is_let_in(dial::tcp(engine.address())));
    assert_eq!(
        event(&engine, "busy"),
        "server busy (0x89): no more connections (limits.connections)"
    );
    dial::greet(dial::tcp(wide), "3");
    drop(first);
    event(&engine, "closed the connection");
    assert!((0..1000).any(|_| dial::is_let_in(dial::tcp(engine.address()))));
}

#[test]
fn a_failed_handshake_leaves_no_place_taken() {
    let files = Files::new("places");
    let limits = Limits { connections: 1, ..Limits::default() };
    let engine = start(vec![papers::listener(files.tls())], &limits).unwrap();
    // More than may be on their way in at once.
    for _ in 0..1_010 {
        let mut stream = dial::tcp(engine.address());
        stream.write_all(b"this is no hello, not at all").unwrap();
        dial::rest(&mut stream);
    }
    let config = files.authority.client(None);
    assert!((0..1000).any(|_| dial::is_let_in(dial::tls(engine.address(), &config))));
}

#[test]
fn half_a_hello_held_open_is_closed_after_the_time_for_a_connect() {
    let files = Files::new("half");
    let limits = Limits { connect_ms: 200, ..Limits::default() };
    let web = ListenerSettings { websocket: true, ..ListenerSettings::tcp("web", "127.0.0.1:0") };
    let engine = start(vec![papers::listener(files.tls()), web], &limits).unwrap();
    let web = engine.addresses()[1].to_string().parse().unwrap();
    for (address, start) in
        [(engine.address(), &b"\x16\x03\x01\x02\x00\x01"[..]), (web, b"GET / HTTP/1.1\r\nHost:")]
    {
        let mut stream = dial::tcp(address);
        stream.write_all(start).unwrap();
        assert!(dial::rest(&mut stream).is_empty());
        assert_eq!(event(&engine, "handshake"), "no handshake within 200 ms");
    }
}

#[test]
fn silence_after_the_handshake_is_closed_too() {
    let limits = Limits { connect_ms: 200, ..Limits::default() };
    let web = ListenerSettings { websocket: true, ..ListenerSettings::tcp("web", "127.0.0.1:0") };
    let engine = start(vec![web], &limits).unwrap();
    let mut stream = dial::web(dial::tcp(engine.address()));
    dial::rest(&mut stream.stream);
    event(&engine, "");
}

#[test]
fn a_stop_does_not_wait_for_handshakes() {
    let files = Files::new("stop");
    let limits = Limits { connect_ms: 600_000, ..Limits::default() };
    let engine = start(vec![papers::listener(files.tls())], &limits).unwrap();
    let mut stream = dial::tcp(engine.address());
    stream.write_all(b"\x16").unwrap();
    // A second one that is served: by then the first one's task is there.
    let _client = dial::greet(dial::tls(engine.address(), &files.authority.client(None)), "c");
    engine.stop().unwrap();
    event(&engine, "the broker stops");
    dial::rest(&mut stream);
}

#[test]
fn listeners_need_names_of_their_own() {
    let twin = ListenerSettings::tcp("twin", "127.0.0.1:0");
    let error = start(vec![twin.clone(), twin], &Limits::default()).err().unwrap();
    assert_eq!(error.to_string(), "two listeners are named 'twin'");
    let error = start(vec![], &Limits::default()).err().unwrap();
    assert_eq!(error.to_string(), "the broker has nothing to listen on");
}

#[test]
fn what_cannot_be_listened_on_is_named() {
    let error = refusal(ListenerSettings::tcp("mqtt", "nonsense"));
    assert!(error.starts_with("listener 'mqtt' cannot listen on nonsense: "), "{error}");
}
