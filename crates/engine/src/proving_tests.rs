//! Tokens that end, come again or are taken back while their client is busy. Time is virtual.

use std::collections::HashMap;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Mutex;
use std::task::{Context, Poll};

use slipring_core::{Plan, TokenIssuer, TokenKeys, TokenRules, TokenSigner};
use slipring_journal::JournalOptions;
use slipring_wire::{
    Auth, Connect, Packet, PacketSplit, PropertiesBuf, PropertyId, Publish, Value, Version,
    split_packet,
};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::*;
use crate::broker::Broker;
use crate::connection::{self, FirstBytes};
use crate::connection_handle::ConnectionHandle;
use crate::origin::Origin;

const METHOD: &str = "OAUTH2-JWT";

fn signer() -> TokenSigner {
    TokenSigner::from_seed([7; 32])
}

fn rules(revoked: &[&str]) -> Arc<TokenRules> {
    let keys = TokenKeys::read(&signer().public_jwk()).unwrap().0;
    let mut issuer = TokenIssuer::new("us", keys);
    issuer.leeway_s = 0;
    let revoked = revoked.iter().map(|id| ((*id).into(), i64::MAX)).collect();
    Arc::new(TokenRules::new(vec![issuer], revoked, HashMap::new()))
}

fn broker() -> Arc<Broker> {
    let mut plan = Plan::default();
    plan.authentication.tokens = rules(&[]);
    plan.limits.wrong_proofs_per_min = 1;
    Arc::new(Broker::open(plan, None, JournalOptions::default()).unwrap().0)
}

fn token(broker: &Broker, user: &str, id: &str, lasts_s: i64) -> String {
    let ends_s = broker.clock.now_ns() / 1_000_000_000 + lasts_s;
    signer().sign(&format!(r#"{{"iss":"us","sub":"{user}","jti":"{id}","exp":{ends_s}}}"#))
}

fn origin(certified: Option<&str>) -> Origin {
    let user = certified.map(Into::into);
    Origin { address: "here".into(), listener: 0, user, certificates: None }
}

fn exchange(token: &str) -> PropertiesBuf {
    let mut properties = PropertiesBuf::new();
    properties.push(PropertyId::AuthenticationMethod, Value::Text(METHOD));
    properties.push(PropertyId::AuthenticationData, Value::Binary(token.as_bytes()));
    properties
}

fn connect(properties: &PropertiesBuf, password: Option<&[u8]>) -> Vec<u8> {
    let connect = Connect {
        version: Version::V5,
        clean_start: true,
        keep_alive_s: 0,
        client_id: "client",
        properties: properties.borrow(),
        will: None,
        user_name: None,
        password,
    };
    let mut bytes = Vec::new();
    Packet::Connect(Box::new(connect)).encode(Version::V5, &mut bytes);
    bytes
}

/// A party without a carrier.
fn party(broker: &Arc<Broker>, certified: Option<&str>) -> Party {
    let (key, now_ns) = (broker.connections.next_key(), broker.clock.now_ns());
    let handle = ConnectionHandle::new(key, origin(certified), now_ns);
    Party::new(Arc::clone(broker), Arc::new(handle))
}

/// Gives the party a packet, and waits for the check that it asks for.
async fn take(party: &mut Party, sent: &[u8]) -> Result<(), ConnectionEnd> {
    let PacketSplit::Whole(whole) = split_packet(sent, 1 << 20).unwrap() else { panic!("cut") };
    party.feed.begin(&party.broker, 0);
    party.take(Packet::decode(&whole, Version::V5).unwrap())?;
    let check = party.check.as_mut().expect("a token is checked");
    let checked = poll_fn(|cx| check.poll(cx)).await;
    let concluded = party.conclude(checked);
    party.finish();
    concluded
}

async fn prove(party: &mut Party, token: &str) -> Result<(), ConnectionEnd> {
    take(party, &connect(&exchange(token), None)).await
}

async fn prove_again(party: &mut Party, token: &str) -> Result<(), ConnectionEnd> {
    let mut bytes = Vec::new();
    let properties = exchange(token);
    let auth = Auth { reason: Reason::ReAuthenticate, properties: properties.borrow() };
    Packet::Auth(auth).encode(Version::V5, &mut bytes);
    take(party, &bytes).await
}

#[tokio::test]
async fn a_token_does_not_change_the_name_that_a_certificate_has_proved() {
    let broker = broker();
    let (anna, ben) = (token(&broker, "anna", "1", 60), token(&broker, "ben", "2", 60));
    let mut own = party(&broker, Some("anna"));
    prove(&mut own, &anna).await.unwrap();
    assert_eq!(own.connection.proven(), Some("anna"));
    let mut other = party(&broker, Some("anna"));
    let end = prove(&mut other, &ben).await.unwrap_err();
    assert!(end.to_string().contains("another user name"), "{end}");
    assert!(prove_again(&mut own, &ben).await.is_err());
    assert_eq!(own.identity.user.as_deref(), Some("anna"));
}

#[tokio::test]
async fn who_guesses_at_the_same_address_does_not_end_a_client_that_renews_its_token() {
    let broker = broker();
    let mut party = party(&broker, None);
    prove(&mut party, &token(&broker, "anna", "1", 60)).await.unwrap();
    broker.attempts.note_wrong("here", "", broker.clock.now_ms());
    prove_again(&mut party, &token(&broker, "anna", "2", 90)).await.unwrap();
    let mut newcomer = self::party(&broker, None);
    let bytes = connect(&exchange(&token(&broker, "anna", "3", 60)), None);
    assert!(take(&mut newcomer, &bytes).await.unwrap_err().to_string().contains("too many"));
}

#[tokio::test]
async fn a_token_that_is_revoked_between_its_check_and_its_use_ends_the_connection() {
    let broker = broker();
    let mut party = party(&broker, None);
    prove(&mut party, &token(&broker, "anna", "1", 60)).await.unwrap();
    let now_s = broker.clock.now_ns() / 1_000_000_000;
    let newer = token(&broker, "anna", "2", 90);
    let grant = rules(&[]).verify(newer.as_bytes(), now_s).unwrap();
    broker.apply_tokens(rules(&["2"])); // the connection still has the first
    assert_eq!(party.connection.closing(), None);
    party.renew(Box::new(grant));
    assert_eq!(party.connection.closing(), Some(Reason::NotAuthorized));
}

/// A client that has always sent something more, and reads everything. It hangs up after so many reads.
struct Busy {
    first: Vec<u8>,
    rest: Vec<u8>,
    reads: usize,
    heard: Arc<Mutex<Vec<u8>>>,
}

impl AsyncRead for Busy {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        room: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let Self { first, rest, reads, .. } = &mut *self;
        *reads = reads.saturating_sub(1);
        if !first.is_empty() {
            room.put_slice(&std::mem::take(first));
        } else if *reads > 0 {
            room.put_slice(rest);
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Busy {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        self.heard.lock().unwrap().extend(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_that_is_never_idle_does_not_outlive_its_token() {
    let broker = broker();
    let short = token(&broker, "anna", "1", 2);
    let mut rest = Vec::new();
    Packet::Publish(Publish::new("t", b"1")).encode(Version::V5, &mut rest);
    let first = connect(&PropertiesBuf::new(), Some(short.as_bytes()));
    let heard = Arc::new(Mutex::default());
    let busy = Busy { first, rest, reads: 100_000, heard: Arc::clone(&heard) };
    let served =
        connection::serve(busy, FirstBytes::nothing(&broker), origin(None), Arc::clone(&broker));
    let time = async {
        while heard.lock().unwrap().is_empty() {
            tokio::task::yield_now().await; // until CONNACK
        }
        tokio::time::advance(Duration::from_secs(5)).await;
    };
    tokio::join!(served, time);
    let mut goodbye = Vec::new();
    let properties = PropertiesBuf::new();
    let reason = Reason::MaximumConnectTime;
    let disconnect = slipring_wire::Disconnect { reason, properties: properties.borrow() };
    Packet::Disconnect(disconnect).encode(Version::V5, &mut goodbye);
    assert!(heard.lock().unwrap().ends_with(&goodbye), "{:?}", heard.lock().unwrap());
}
