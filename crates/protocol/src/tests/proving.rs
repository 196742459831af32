//! Enhanced authentication as rows: what is sent, and whom the client believes.

use slipring_wire::Auth;
use zeroize::Zeroizing;

use super::*;

const METHOD: &str = "OAUTH2-JWT";

fn with_token(renewed: bool) -> ConnectOptions {
    let password = Some(Zeroizing::new(b"first".to_vec()));
    let method = ProofMethod::Token;
    let credentials = Credentials { user: None, password, method, renewed };
    ConnectOptions { credentials, reconnect: Duration::MAX, ..options() }
}

fn proof(method: &str, data: &[u8]) -> PropertiesBuf {
    let mut properties = PropertiesBuf::new();
    properties
        .push(PropertyId::AuthenticationMethod, Value::Text(method))
        .push(PropertyId::AuthenticationData, Value::Binary(data));
    properties
}

fn auth(reason: Reason, method: &str) -> Vec<u8> {
    bytes(&Packet::Auth(Auth { reason, properties: proof(method, b"").borrow() }))
}

fn holds(haystack: &[u8], needle: &[u8]) -> bool {
    haystack.windows(needle.len()).any(|part| part == needle)
}

fn open_with_token(renewed: bool, now: Instant) -> ClientProtocol {
    let mut protocol = begin(with_token(renewed), now);
    assert!(holds(&output(&mut protocol, now), b"first"));
    feed(&mut protocol, &connack(Reason::Success, &proof(METHOD, b"")), now);
    protocol
}

#[test]
fn a_new_token_is_proved_on_the_open_connection() {
    let now = Instant::now();
    let mut protocol = open_with_token(true, now);
    protocol.renew(Zeroizing::new(b"second".to_vec()));
    let sent = output(&mut protocol, now);
    assert_eq!(
        sent,
        bytes(&Packet::Auth(Auth {
            reason: Reason::ReAuthenticate,
            properties: proof(METHOD, b"second").borrow(),
        }))
    );
    // One exchange at a time: the newest token is proved after it.
    protocol.renew(Zeroizing::new(b"lost".to_vec()));
    protocol.renew(Zeroizing::new(b"third".to_vec()));
    assert!(output(&mut protocol, now).is_empty());
    let events = feed(&mut protocol, &auth(Reason::Success, METHOD), now);
    assert_eq!(events, [ProtocolEvent::Client(ClientEvent::Authenticated)]);
    let sent = output(&mut protocol, now);
    assert!(holds(&sent, b"third") && !holds(&sent, b"lost"));
    feed(&mut protocol, &auth(Reason::Success, METHOD), now);
    assert!(output(&mut protocol, now).is_empty());
}

#[test]
fn a_token_that_no_packet_can_carry_is_not_taken() {
    let now = Instant::now();
    let mut protocol = open_with_token(true, now);
    for secret in [Vec::new(), vec![b'x'; 65_536]] {
        assert!(!protocol.renew(Zeroizing::new(secret)));
    }
    assert!(output(&mut protocol, now).is_empty());
    assert!(protocol.renew(Zeroizing::new(vec![b'x'; 65_535])));
}

#[test]
fn a_connection_that_was_refused_is_made_again_with_another_token_only() {
    let now = Instant::now();
    let mut protocol = open_with_token(true, now);
    protocol.receive_eof();
    protocol.retry(now, 0).unwrap();
    assert!(protocol.renew(Zeroizing::new(b"first".to_vec())), "the network was lost, no more");
    protocol.handle_timeout(now);
    output(&mut protocol, now);
    feed(&mut protocol, &connack(Reason::NotAuthorized, &PropertiesBuf::new()), now);
    protocol.retry(now, 0).unwrap();
    assert!(!protocol.renew(Zeroizing::new(b"first".to_vec())));
    assert_eq!(protocol.deadline(), None);
    assert!(protocol.renew(Zeroizing::new(b"second".to_vec())));
    protocol.handle_timeout(now);
    assert!(holds(&output(&mut protocol, now), b"second"));
    let mut fixed = open_with_token(false, now);
    fixed.receive_eof();
    fixed.retry(now, 0).unwrap();
    fixed.handle_timeout(now);
    feed(&mut fixed, &connack(Reason::NotAuthorized, &PropertiesBuf::new()), now);
    assert_eq!(fixed.retry(now, 0), None, "the same token would be refused again");
}

#[test]
fn no_connection_is_made_again_before_there_is_a_token_for_it() {
    let now = Instant::now();
    let mut protocol = open_with_token(true, now);
    protocol.receive_eof();
    protocol.retry(now, 0).unwrap();
    assert_eq!(protocol.deadline(), None);
    protocol.handle_timeout(now + 99 * S);
    assert!(protocol.is_away());
    protocol.renew(Zeroizing::new(b"second".to_vec()));
    assert!(protocol.deadline().is_some());
    protocol.handle_timeout(now);
    let sent = output(&mut protocol, now);
    assert!(holds(&sent, b"second") && !holds(&sent, b"first"));
}

#[test]
fn a_token_that_is_not_renewed_does_not_hold_up_a_connection() {
    let now = Instant::now();
    let mut protocol = open_with_token(false, now);
    protocol.receive_eof();
    protocol.retry(now, 0).unwrap();
    protocol.handle_timeout(now);
    assert!(holds(&output(&mut protocol, now), b"first"));
}

#[test]
fn an_auth_that_answers_nothing_breaks_the_rules() {
    let now = Instant::now();
    for packet in [
        auth(Reason::Success, METHOD),
        auth(Reason::ContinueAuthentication, METHOD),
        auth(Reason::Success, "SCRAM-SHA-256"),
    ] {
        let mut protocol = open_with_token(true, now);
        feed(&mut protocol, &packet, now);
        assert!(matches!(protocol.loss(), Some(ConnectionLoss::Violation(_))));
    }
    let mut protocol = open(now);
    feed(&mut protocol, &auth(Reason::Success, METHOD), now);
    assert!(matches!(protocol.loss(), Some(ConnectionLoss::Violation(_))));
    // Without enhanced authentication an AUTH is not even an answer to CONNECT.
    let mut protocol = begin(options(), now);
    feed(&mut protocol, &auth(Reason::ContinueAuthentication, METHOD), now);
    assert!(matches!(protocol.loss(), Some(ConnectionLoss::NotMqtt(_))));
}

#[test]
fn a_will_goes_with_every_connect() {
    let now = Instant::now();
    let will = ClientWill {
        topic: "a/will".to_owned(),
        payload: b"gone".to_vec(),
        qos: QoS::AtLeastOnce,
        retain: true,
        delay_s: 7,
        properties: MessageProperties { expiry_s: Some(9), ..MessageProperties::default() }
            .encode([("by", "me")])
            .unwrap(),
    };
    assert!(will.fits());
    assert!(!ClientWill { topic: "a/+".to_owned(), ..will.clone() }.fits());
    assert!(!ClientWill { payload: vec![0; 65_536], ..will.clone() }.fits());
    let mut protocol = begin(ConnectOptions { will: Some(will), ..options() }, now);
    let sent = output(&mut protocol, now);
    assert!(holds(&sent, b"a/will\x00\x04gone"));
    assert!(holds(&sent, &[0x18, 0, 0, 0, 7]), "the delay");
    assert!(holds(&sent, &[2, 0, 0, 0, 9]), "the expiry");
    assert!(holds(&sent, b"\x26\x00\x02by\x00\x02me"));
}
