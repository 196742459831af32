//! Enhanced authentication on one connection, clause by clause: which packets answer which.

use std::num::NonZeroU32;
use std::sync::LazyLock;

use data_encoding::BASE64;
use ring::{digest, hmac, pbkdf2};
use slipring_core::{
    Action, Conversation, Limit, Limits, NONCE_BYTES, Opening, Secret, Stop, Users, Verifier,
};
use slipring_wire::{
    Auth, Connect, Disconnect, Packet, PacketSplit, Properties, PropertiesBuf, PropertyId, Reason,
    Value, Version, split_packet,
};

const METHOD: &str = "SCRAM-SHA-256";
const SALT: &[u8] = b"a salt of 18 bytes";

static PENCIL: LazyLock<Verifier> = LazyLock::new(|| Verifier::new(b"pencil", SALT, 4096).unwrap());
static PENCIL_KEY: LazyLock<[u8; 32]> = LazyLock::new(|| client_key(b"pencil"));

fn users(names: &[&str]) -> Users {
    Users::new(names.iter().map(|name| ((*name).to_owned(), PENCIL.clone()))).unwrap()
}

/// A connection of a client, and the broker's last answer.
struct Talk {
    conversation: Conversation,
    users: Users,
    reply: Vec<u8>,
    opened: Option<Box<Opening>>,
}

impl Talk {
    fn new() -> Self {
        let conversation = Conversation::new(Limits::default());
        Self { conversation, users: users(&["user", "anna"]), reply: Vec::new(), opened: None }
    }

    /// A client that has sent CONNECT with this method and data.
    fn connecting(method: &str, data: &[u8]) -> Result<Self, Stop> {
        let mut talk = Self::new();
        let properties = properties(Some(method), Some(data));
        talk.send(&connect(properties.borrow()))?;
        Ok(talk)
    }

    /// A client that was let in as `user`.
    fn open() -> Self {
        let mut talk = Self::connecting(METHOD, b"n,,n=user,r=abc").unwrap();
        let last = talk.proof("n=user,r=abc", b"pencil");
        talk.auth(Reason::ContinueAuthentication, METHOD, &last).unwrap();
        let opening = talk.opened.clone().expect("the proof is right");
        talk.reply.clear();
        talk.conversation.accept(&opening, "client", false, &mut talk.reply);
        talk
    }

    fn send(&mut self, packet: &Packet<'_>) -> Result<(), Stop> {
        self.reply.clear();
        let Action::Authenticate(data) =
            self.conversation.receive(packet.clone(), &mut self.reply)?
        else {
            return Ok(());
        };
        let (secret, nonce) = (Secret::from([7; 32]), [1; NONCE_BYTES]);
        let reply = &mut self.reply;
        match self.conversation.authenticate(data, &self.users, &secret, nonce, reply)? {
            Action::Open(opening) => self.opened = Some(opening),
            action => assert_eq!(action, Action::Nothing),
        }
        Ok(())
    }

    fn auth(&mut self, reason: Reason, method: &str, data: &[u8]) -> Result<(), Stop> {
        let properties = properties(Some(method), Some(data));
        self.send(&Packet::Auth(Auth { reason, properties: properties.borrow() }))
    }

    /// The broker's answer: the packet's name, reason, method and data.
    fn answer(&self) -> (&'static str, Reason, Option<String>, Option<String>) {
        let PacketSplit::Whole(whole) = split_packet(&self.reply, 1 << 16).unwrap() else {
            panic!("no answer")
        };
        let (kind, reason, properties) = match Packet::decode(&whole, Version::V5).unwrap() {
            Packet::Auth(auth) => ("AUTH", auth.reason, auth.properties),
            Packet::ConnAck(connack) => ("CONNACK", connack.reason, connack.properties),
            Packet::Disconnect(last) => ("DISCONNECT", last.reason, last.properties),
            other => panic!("{other:?}"),
        };
        let method = properties.text(PropertyId::AuthenticationMethod).map(str::to_owned);
        let data = match properties.get(PropertyId::AuthenticationData) {
            Some(Value::Binary(data)) => Some(String::from_utf8(data.into()).unwrap()),
            _ => None,
        };
        (kind, reason, method, data)
    }

    /// The broker's last packet: its name and reason.
    fn farewell(&mut self, stop: Stop) -> (&'static str, Reason) {
        self.reply.clear();
        self.conversation.farewell(stop.violation.reason, stop.violation.what, &mut self.reply);
        let (kind, reason, ..) = self.answer();
        (kind, reason)
    }

    /// The client's last message after the broker's challenge.
    fn proof(&self, bare: &str, password: &[u8]) -> Vec<u8> {
        let challenge = self.answer().3.expect("a challenge");
        let nonce = challenge.split(',').next().unwrap();
        let unproved = format!("c=biws,{nonce}");
        let client_key = if password == b"pencil" { *PENCIL_KEY } else { client_key(password) };
        let messages = format!("{bare},{challenge},{unproved}");
        let stored_key = digest::digest(&digest::SHA256, &client_key);
        let mut proof = mac(stored_key.as_ref(), messages.as_bytes());
        proof.iter_mut().zip(client_key).for_each(|(byte, key)| *byte ^= key);
        format!("{unproved},p={}", BASE64.encode(&proof)).into_bytes()
    }
}

fn client_key(password: &[u8]) -> [u8; 32] {
    let (mut salted, iterations) = ([0; 32], NonZeroU32::new(4096).unwrap());
    pbkdf2::derive(pbkdf2::PBKDF2_HMAC_SHA256, iterations, SALT, password, &mut salted);
    mac(&salted, b"Client Key")
}

fn mac(key: &[u8], message: &[u8]) -> [u8; 32] {
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), message);
    tag.as_ref().try_into().unwrap()
}

fn properties(method: Option<&str>, data: Option<&[u8]>) -> PropertiesBuf {
    let mut properties = PropertiesBuf::new();
    if let Some(method) = method {
        properties.push(PropertyId::AuthenticationMethod, Value::Text(method));
    }
    if let Some(data) = data {
        properties.push(PropertyId::AuthenticationData, Value::Binary(data));
    }
    properties
}

fn connect(properties: Properties<'_>) -> Packet<'_> {
    Packet::Connect(Box::new(Connect {
        version: Version::V5,
        clean_start: true,
        keep_alive_s: 0,
        client_id: "client",
        properties,
        will: None,
        user_name: Some("claimed"),
        password: None,
    }))
}

#[test]
fn a_whole_exchange_lets_the_proven_user_in() {
    let talk = Talk::connecting(METHOD, b"n,,n=user,r=abc").unwrap();
    let (kind, reason, method, challenge) = talk.answer();
    assert_eq!((kind, reason), ("AUTH", Reason::ContinueAuthentication)); // MQTT-4.12.0-2
    assert_eq!(method.as_deref(), Some(METHOD)); // MQTT-4.12.0-5
    assert!(challenge.unwrap().starts_with("r=abc"));
    let bytes_max = talk.conversation.packet_bytes_max();
    assert_eq!(bytes_max.1, Limit::ConnectBytes, "the client is not let in yet");

    let talk = Talk::open();
    assert_eq!(talk.opened.as_ref().unwrap().user_name.as_deref(), Some("user"));
    let (kind, reason, method, data) = talk.answer();
    assert_eq!((kind, reason), ("CONNACK", Reason::Success));
    assert_eq!(method.as_deref(), Some(METHOD)); // MQTT-4.12.0-5
    assert!(data.unwrap().starts_with("v="));
}

#[test]
fn a_wrong_password_and_an_unknown_user_end_alike() {
    for (bare, password) in
        [("n=user,r=abc", &b"eraser"[..]), ("n=user,r=abc", b""), ("n=nobody,r=abc", b"pencil")]
    {
        let mut talk = Talk::connecting(METHOD, format!("n,,{bare}").as_bytes()).unwrap();
        let last = talk.proof(bare, password);
        let stop = talk.auth(Reason::ContinueAuthentication, METHOD, &last).unwrap_err();
        assert_eq!(stop.violation.what, "the authentication has failed");
        assert_eq!(talk.opened, None);
        assert_eq!(talk.farewell(stop), ("CONNACK", Reason::NotAuthorized)); // MQTT-4.12.0-4
    }
}

#[test]
fn an_unknown_method_is_refused() {
    let stop = Talk::connecting("PLAIN", b"").err().unwrap();
    assert_eq!(stop.violation.reason, Reason::BadAuthenticationMethod); // MQTT-4.12.0-1
    let mut talk = Talk { users: Users::default(), ..Talk::new() };
    let properties = properties(Some(METHOD), Some(b"n,,n=user,r=abc"));
    let stop = talk.send(&connect(properties.borrow())).unwrap_err();
    assert_eq!(stop.violation.reason, Reason::BadAuthenticationMethod);
    assert_eq!(talk.farewell(stop), ("CONNACK", Reason::BadAuthenticationMethod));
}

#[test]
fn a_client_that_accepts_only_small_packets_gets_no_large_one() {
    let mut properties = properties(Some(METHOD), Some(b"n,,n=user,r=abc"));
    properties.push(PropertyId::MaximumPacketSize, Value::Four(50));
    let mut talk = Talk::new();
    let stop = talk.send(&connect(properties.borrow())).unwrap_err();
    assert_eq!((stop.violation.reason, talk.reply.len()), (Reason::PacketTooLarge, 0)); // MQTT-3.1.2-24
}

#[test]
fn data_without_a_method_is_a_protocol_error() {
    let properties = properties(None, Some(b"n,,n=user,r=abc"));
    let stop = Talk::new().send(&connect(properties.borrow())).unwrap_err();
    assert_eq!(stop.violation.reason, Reason::ProtocolError); // 3.1.2.11.10
}

#[test]
fn only_auth_or_disconnect_may_come_before_connack() {
    let first = b"n,,n=user,r=abc";
    let none = Properties::NONE;
    for packet in [Packet::PingReq, connect(none)] {
        let mut talk = Talk::connecting(METHOD, first).unwrap();
        let stop = talk.send(&packet).unwrap_err();
        assert_eq!(talk.farewell(stop), ("CONNACK", Reason::ProtocolError)); // MQTT-3.1.2-30
    }
    let mut talk = Talk::connecting(METHOD, first).unwrap();
    let last = Packet::Disconnect(Disconnect { reason: Reason::Success, properties: none });
    let action = talk.conversation.receive(last, &mut talk.reply).unwrap();
    assert!(matches!(action, Action::Close(_)));
}

#[test]
fn auth_with_another_method_or_out_of_turn_is_a_protocol_error() {
    let rows = [
        (Reason::ContinueAuthentication, Some("PLAIN")), // MQTT-4.12.0-5
        (Reason::ContinueAuthentication, None),          // 3.15.2.2.2
        (Reason::ReAuthenticate, Some(METHOD)),          // MQTT-4.12.0-3
        (Reason::Success, Some(METHOD)),                 // MQTT-3.15.2-1
    ];
    for (reason, method) in rows {
        let mut talk = Talk::connecting(METHOD, b"n,,n=user,r=abc").unwrap();
        let last = talk.proof("n=user,r=abc", b"pencil");
        let properties = properties(method, Some(&last));
        let auth = Auth { reason, properties: properties.borrow() };
        let stop = talk.send(&Packet::Auth(auth)).unwrap_err();
        assert_eq!(talk.farewell(stop), ("CONNACK", Reason::ProtocolError));
    }
}

#[test]
fn a_client_re_authenticates_while_other_packets_continue() {
    let mut talk = Talk::open();
    for _ in 0..2 {
        talk.auth(Reason::ReAuthenticate, METHOD, b"n,,n=user,r=def").unwrap();
        assert_eq!(talk.answer().1, Reason::ContinueAuthentication);
        let last = talk.proof("n=user,r=def", b"pencil");
        talk.send(&Packet::PingReq).unwrap(); // other packets continue
        talk.auth(Reason::ContinueAuthentication, METHOD, &last).unwrap();
        let (kind, reason, method, data) = talk.answer();
        assert_eq!((kind, reason, method.as_deref()), ("AUTH", Reason::Success, Some(METHOD)));
        assert!(data.unwrap().starts_with("v="));
    }
}

#[test]
fn a_failed_re_authentication_ends_the_connection() {
    for (bare, password) in
        [("n=user,r=def", &b"eraser"[..]), ("n=anna,r=def", b"pencil"), ("n=nobody,r=def", b"")]
    {
        let mut talk = Talk::open();
        let first = format!("n,,{bare}");
        talk.auth(Reason::ReAuthenticate, METHOD, first.as_bytes()).unwrap();
        let last = talk.proof(bare, password);
        let stop = talk.auth(Reason::ContinueAuthentication, METHOD, &last).unwrap_err();
        assert_eq!(talk.farewell(stop), ("DISCONNECT", Reason::NotAuthorized)); // MQTT-4.12.1-2
    }
}

#[test]
fn a_user_who_was_removed_cannot_prove_its_name_again() {
    for users in [users(&[]), users(&["anna"])] {
        let mut talk = Talk { users, ..Talk::open() };
        talk.auth(Reason::ReAuthenticate, METHOD, b"n,,n=user,r=def").unwrap();
        let last = talk.proof("n=user,r=def", b"pencil");
        let stop = talk.auth(Reason::ContinueAuthentication, METHOD, &last).unwrap_err();
        assert_eq!(talk.farewell(stop), ("DISCONNECT", Reason::NotAuthorized));
    }
}

#[test]
fn re_authentication_out_of_turn_is_a_protocol_error() {
    let rows = [
        (Reason::ReAuthenticate, "PLAIN"),        // MQTT-4.12.1-1
        (Reason::ContinueAuthentication, METHOD), // nothing has begun
        (Reason::Success, METHOD),
    ];
    for (reason, method) in rows {
        let mut talk = Talk::open();
        let stop = talk.auth(reason, method, b"n,,n=user,r=def").unwrap_err();
        assert_eq!(talk.farewell(stop), ("DISCONNECT", Reason::ProtocolError));
    }
    let mut talk = Talk::open();
    talk.auth(Reason::ReAuthenticate, METHOD, b"n,,n=user,r=def").unwrap();
    let stop = talk.auth(Reason::ReAuthenticate, METHOD, b"n,,n=user,r=def").unwrap_err();
    assert_eq!(stop.violation.reason, Reason::ProtocolError);
}

#[test]
fn a_client_without_a_method_sends_no_auth_and_gets_none() {
    let mut talk = Talk::new();
    let action = talk.conversation.receive(connect(Properties::NONE), &mut talk.reply).unwrap();
    let Action::Open(opening) = action else { panic!("{action:?}") };
    talk.conversation.accept(&opening, "client", false, &mut talk.reply);
    let (kind, reason, method, data) = talk.answer();
    assert_eq!((kind, reason, method, data), ("CONNACK", Reason::Success, None, None)); // MQTT-4.12.0-6
    let stop = talk.auth(Reason::ReAuthenticate, METHOD, b"n,,n=user,r=abc").unwrap_err();
    assert_eq!(talk.farewell(stop), ("DISCONNECT", Reason::ProtocolError)); // MQTT-4.12.0-7
}
