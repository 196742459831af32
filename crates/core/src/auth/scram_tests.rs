//! Tests of SCRAM as a client sees it: the standard's own example, and everything that must fail.

use std::sync::LazyLock;

use data_encoding::BASE64;
use proptest::prelude::*;
use slipring_wire::Reason;

use super::scram::{CLIENT_NONCE_BYTES_MAX, WRONG};
use super::secret::{hmac, sha256};
use super::verifier::salted;
use super::{Proven, Scram, Secret, Users, Verifier};
use crate::Stop;

/// The example of RFC 7677, section 3.
const FIRST: &str = "n,,n=user,r=rOprNGfwEbeRWgbNEkqO";
const BROKER_NONCE: &str = "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0";
const CHALLENGE: &str = "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,\
                         s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096";
const LAST: &str = "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,\
                    p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=";
const ANSWER: &str = "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=";

static USERS: LazyLock<Users> = LazyLock::new(|| {
    let salt = BASE64.decode(b"W22ZaJ0SNY7soEsUEjb6gQ==").unwrap();
    let verifier = Verifier::new(b"pencil", &salt, 4096).unwrap();
    Users::new([("user".to_owned(), verifier.clone()), ("a,b=c".to_owned(), verifier)]).unwrap()
});

fn begin(first: &[u8]) -> Result<(Scram, String), Stop> {
    Scram::begin(first, &USERS, &Secret::from([7; 32]), BROKER_NONCE)
}

fn exchange(first: &[u8], last: &[u8]) -> Result<Proven, Stop> {
    begin(first)?.0.finish(last)
}

fn why(result: Result<impl Sized, Stop>) -> &'static str {
    let violation = result.err().expect("it fails").violation;
    assert_eq!(violation.reason, Reason::NotAuthorized);
    violation.what
}

/// The last message of a client that knows the password.
fn proved(header: &str, bare: &str, challenge: &str, extension: &str) -> String {
    let nonce = challenge.split(',').next().unwrap();
    let unproved = format!("c={},{nonce}{extension}", BASE64.encode(header.as_bytes()));
    let salt = BASE64.decode(b"W22ZaJ0SNY7soEsUEjb6gQ==").unwrap();
    let client_key = hmac(&salted(b"pencil", &salt, 4096), b"Client Key");
    let mut proof = hmac(&sha256(&client_key), format!("{bare},{challenge},{unproved}").as_bytes());
    proof.iter_mut().zip(client_key).for_each(|(byte, key)| *byte ^= key);
    format!("{unproved},p={}", BASE64.encode(&proof))
}

#[test]
fn the_example_of_the_standard_passes() {
    let (scram, challenge) = begin(FIRST.as_bytes()).unwrap();
    assert_eq!(challenge, CHALLENGE);
    let proven = scram.finish(LAST.as_bytes()).unwrap();
    assert_eq!(proven, Proven { user: "user".into(), answer: ANSWER.into() });
}

#[test]
fn options_that_the_standard_leaves_to_the_client_pass_too() {
    let rows = [
        ("y,,", "n=user,r=abc", "", "user"),
        ("n,,", "n=user,r=abc,x=ignored", ",x=ignored", "user"),
        ("n,,", "n=a=2Cb=3Dc,r=abc", "", "a,b=c"),
    ];
    for (header, bare, extension, user) in rows {
        let (scram, challenge) = begin(format!("{header}{bare}").as_bytes()).unwrap();
        let last = proved(header, bare, &challenge, extension);
        assert_eq!(scram.finish(last.as_bytes()).unwrap().user, user);
    }
}

#[test]
fn a_first_message_that_is_not_one_fails() {
    let long = format!("n,,n=user,r={}", "x".repeat(CLIENT_NONCE_BYTES_MAX + 1));
    let rows = [
        "",
        "n",
        "n,,",
        "n=user,r=abc",
        "p=tls-unique,,n=user,r=abc",
        "n,a=admin,n=user,r=abc",
        "n,,m=ext,n=user,r=abc",
        "n,,n=,r=abc",
        "n,,n=user,r=",
        "n,,n=user",
        "n,,r=abc,n=user",
        "n,,n=us=er,r=abc",
        "n,,n=us=2cer,r=abc",
        "n,,n=user,r=a\u{7f}c",
        &long,
    ];
    for row in rows {
        let why = why(begin(row.as_bytes()));
        assert!(why.contains("SCRAM") || why.contains("channel binding"), "{row}");
    }
    assert_eq!(why(begin(b"n,,n=\xff,r=abc")), "a message that is not UTF-8");
}

#[test]
fn an_unknown_user_gets_a_challenge_and_fails_like_a_wrong_password() {
    let first = FIRST.replace("n=user", "n=nobody");
    let (scram, challenge) = begin(first.as_bytes()).unwrap();
    assert_eq!(challenge, begin(first.as_bytes()).unwrap().1);
    assert_eq!(challenge.len(), CHALLENGE.len());
    let unknown = why(scram.finish(LAST.as_bytes()));
    let wrong = LAST.replace("p=d", "p=e");
    assert_eq!(unknown, why(exchange(FIRST.as_bytes(), wrong.as_bytes())));
}

#[test]
fn a_proof_cannot_be_used_again() {
    let secret = Secret::from([7; 32]);
    let (scram, _) = Scram::begin(FIRST.as_bytes(), &USERS, &secret, "another nonce").unwrap();
    assert_eq!(why(scram.finish(LAST.as_bytes())), WRONG);
}

#[test]
fn a_last_message_without_a_proof_fails() {
    let unproved = LAST.split_once(",p=").unwrap().0;
    for proof in ["", ",p=", ",p=AAAA", ",p=!"] {
        why(exchange(FIRST.as_bytes(), format!("{unproved}{proof}").as_bytes()));
    }
}

proptest! {
    #[test]
    fn any_change_of_the_last_message_fails(at in 0..LAST.len(), byte: u8) {
        let mut last = LAST.as_bytes().to_vec();
        prop_assume!(last[at] != byte);
        last[at] = byte;
        prop_assert!(exchange(FIRST.as_bytes(), &last).is_err());
    }

    #[test]
    fn any_cut_or_addition_to_the_last_message_fails(at in 0..LAST.len(), extra in ".{1,20}") {
        prop_assert!(exchange(FIRST.as_bytes(), &LAST.as_bytes()[..at]).is_err());
        let (before, after) = LAST.split_at(at);
        let longer = format!("{before}{extra}{after}");
        prop_assert!(exchange(FIRST.as_bytes(), longer.as_bytes()).is_err());
    }

    #[test]
    fn any_change_of_the_first_message_fails(at in 0..FIRST.len(), byte: u8) {
        let mut first = FIRST.as_bytes().to_vec();
        prop_assume!(first[at] != byte);
        first[at] = byte;
        prop_assert!(exchange(&first, LAST.as_bytes()).is_err());
    }

    #[test]
    fn random_messages_fail_without_a_panic(first: Vec<u8>, last: Vec<u8>) {
        prop_assert!(exchange(&first, &last).is_err());
        prop_assert!(exchange(FIRST.as_bytes(), &last).is_err());
    }
}
