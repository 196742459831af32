//! Tokens that must be refused, as a table, and laws of those that are accepted.

use std::collections::HashMap;

use data_encoding::{BASE64, BASE64URL_NOPAD};
use proptest::prelude::*;
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair, RSA_PKCS1_SHA256, RsaKeyPair,
    RsaPublicKeyComponents,
};

use super::*;
use TokenError as Why;

const NOW_S: i64 = 1_800_000_000;
const ISSUER: &str = "https://id.example";

fn encoded(text: &[u8]) -> String {
    BASE64URL_NOPAD.encode(text)
}

/// One key of each kind, and what signs with them.
struct Keys {
    ed: TokenSigner,
    ec: EcdsaKeyPair,
    rsa: RsaKeyPair,
}

impl Keys {
    fn new() -> Self {
        let (random, fixed) = (SystemRandom::new(), &ECDSA_P256_SHA256_FIXED_SIGNING);
        let ec = EcdsaKeyPair::generate_pkcs8(fixed, &random).unwrap();
        let text: String = include_str!("rsa_test_key.txt").split_whitespace().collect();
        Self {
            ed: TokenSigner::from_seed([7; 32]),
            ec: EcdsaKeyPair::from_pkcs8(fixed, ec.as_ref(), &random).unwrap(),
            rsa: RsaKeyPair::from_der(&BASE64.decode(text.as_bytes()).unwrap()).unwrap(),
        }
    }

    fn set(&self) -> TokenKeys {
        let point = self.ec.public_key().as_ref();
        let rsa = RsaPublicKeyComponents::<Vec<u8>>::from(self.rsa.public());
        let text = format!(
            r#"{{"keys":[{},{{"kty":"EC","crv":"P-256","kid":"ec","x":"{}","y":"{}"}},
            {{"kty":"RSA","kid":"rsa","n":"{}","e":"{}"}}]}}"#,
            self.ed.public_jwk(),
            encoded(&point[1..33]),
            encoded(&point[33..]),
            encoded(&rsa.n),
            encoded(&rsa.e),
        );
        let (keys, refused) = TokenKeys::read(&text).unwrap();
        assert_eq!((keys.len(), refused), (3, Vec::new()));
        keys
    }

    fn rules(&self) -> TokenRules {
        let mut issuer = TokenIssuer::new(ISSUER, self.set());
        issuer.audience = Box::new(["bus".into(), "other".into()]);
        TokenRules::new(vec![issuer], HashMap::new(), HashMap::new())
    }

    fn ed(header: &str, payload: &str) -> String {
        Self::ed_bytes(&encoded(header.as_bytes()), &encoded(payload.as_bytes()))
    }

    fn ed_bytes(header: &str, payload: &str) -> String {
        // The signer writes its own header; a test signs any.
        let signed = format!("{header}.{payload}");
        let pair = ring::signature::Ed25519KeyPair::from_seed_unchecked(&[7; 32]).unwrap();
        format!("{signed}.{}", encoded(pair.sign(signed.as_bytes()).as_ref()))
    }

    fn ec(&self, header: &str, payload: &str) -> String {
        let signed = format!("{}.{}", encoded(header.as_bytes()), encoded(payload.as_bytes()));
        let signature = self.ec.sign(&SystemRandom::new(), signed.as_bytes()).unwrap();
        format!("{signed}.{}", encoded(signature.as_ref()))
    }

    fn rsa(&self, header: &str, payload: &str) -> String {
        let signed = format!("{}.{}", encoded(header.as_bytes()), encoded(payload.as_bytes()));
        let mut signature = vec![0; self.rsa.public().modulus_len()];
        let random = SystemRandom::new();
        self.rsa.sign(&RSA_PKCS1_SHA256, &random, signed.as_bytes(), &mut signature).unwrap();
        format!("{signed}.{}", encoded(&signature))
    }

    fn header(&self) -> String {
        format!(r#"{{"alg":"EdDSA","kid":"{}"}}"#, self.ed.id())
    }
}

/// Claims of a good token, with these members instead or beside; an empty value leaves one out.
fn claims(changed: &[(&str, &str)]) -> String {
    let (issuer, ends) = (format!("\"{ISSUER}\""), (NOW_S + 600).to_string());
    let usual = [("iss", &*issuer), ("sub", "\"anna\""), ("aud", "\"bus\""), ("exp", &ends)];
    let kept = usual.iter().filter(|(name, _)| changed.iter().all(|(other, _)| name != other));
    let members = kept.chain(changed).filter(|(_, value)| !value.is_empty());
    let members: Vec<String> = members.map(|(name, value)| format!("\"{name}\":{value}")).collect();
    format!("{{{}}}", members.join(","))
}

#[test]
fn each_algorithm_is_accepted_with_its_own_key() {
    let keys = Keys::new();
    let claims =
        claims(&[("roles", r#"["engineer"]"#), ("jti", "\"7\""), ("site", "[\"a\",\"b\"]")]);
    let tokens = [
        keys.ed.sign(&claims),
        Keys::ed(r#"{"alg":"EdDSA"}"#, &claims), // the only key of its algorithm
        keys.ec(r#"{"alg":"ES256","kid":"ec","typ":"at+jwt"}"#, &claims),
        keys.rsa(r#"{"alg":"RS256","kid":"rsa","typ":"JWT"}"#, &claims),
    ];
    for token in tokens {
        assert!(keys.rules().is_token(token.as_bytes()));
        let grant = keys.rules().verify(token.as_bytes(), NOW_S).unwrap();
        assert_eq!((grant.user(), grant.id.as_deref()), ("anna", Some("7")));
        assert_eq!(grant.identity.roles, Box::from(["engineer".into()]));
        let pairs: Vec<_> = grant.identity.claims.iter().map(|(k, v)| (&**k, &**v)).collect();
        assert_eq!(pairs, [("iss", ISSUER), ("site", "a"), ("site", "b"), ("sub", "anna")]);
        assert!(keys.rules().holds(&grant));
        assert_eq!(grant.remaining_s(NOW_S), 660);
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn every_attack_is_refused_for_its_reason() {
    let keys = Keys::new();
    let (rules, header, good) = (keys.rules(), keys.header(), claims(&[]));
    let with = |changed: &[(&str, &str)]| keys.ed.sign(&claims(changed));
    let signed_with = |text: &str| Keys::ed(text, &good);
    let valid = keys.ed.sign(&good);
    let (signed, signature) = valid.rsplit_once('.').unwrap();
    let hmac_key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, &[7; 32]);
    let secret = format!("{}.{}", encoded(br#"{"alg":"HS256"}"#), encoded(good.as_bytes()));
    let mac = ring::hmac::sign(&hmac_key, secret.as_bytes());
    let kid = |id: &str| signed_with(&format!(r#"{{"alg":"EdDSA","kid":{id}}}"#));
    let own = r#"{"alg":"EdDSA","kid":"x","jku":"http://127.0.0.1/","jwk":{"kty":"oct","k":""}}"#;
    let many: Vec<String> = (0..70).map(|at| format!("\"{at}\"")).collect();
    let many = format!("[{}]", many.join(","));
    let long = format!("\"{}\"", "a".repeat(2_000));
    let past = (NOW_S - 61).to_string();
    let soon = (NOW_S + 61).to_string();
    let rows = [
        ("nothing", String::new(), Why::Malformed),
        (
            "none",
            format!("{}.{}.", encoded(br#"{"alg":"none"}"#), encoded(good.as_bytes())),
            Why::Algorithm,
        ),
        ("None", signed_with(r#"{"alg":"nOnE"}"#), Why::Algorithm),
        ("no algorithm", signed_with("{}"), Why::Algorithm),
        ("a shared secret", format!("{secret}.{}", encoded(mac.as_ref())), Why::Algorithm),
        ("RS384", signed_with(r#"{"alg":"RS384","kid":"rsa"}"#), Why::Algorithm),
        ("an RSA key for ES256", keys.rsa(r#"{"alg":"ES256","kid":"rsa"}"#, &good), Why::Signature),
        ("an RSA key for EdDSA", keys.rsa(r#"{"alg":"EdDSA","kid":"rsa"}"#, &good), Why::Signature),
        ("an EC key for RS256", keys.ec(r#"{"alg":"RS256","kid":"ec"}"#, &good), Why::Signature),
        (
            "another key of the issuer",
            keys.ec(r#"{"alg":"RS256","kid":"rsa"}"#, &good),
            Why::Signature,
        ),
        ("kid as a path", kid(r#""../../dev/null""#), Why::UnknownKey),
        ("kid as SQL", kid(r#""' UNION SELECT 'x""#), Why::UnknownKey),
        ("kid as an address", kid(r#""https://evil.example/jwks""#), Why::UnknownKey),
        ("kid empty", kid(r#""""#), Why::UnknownKey),
        ("kid as a number", kid("7"), Why::Header),
        ("kid as a list", kid("[]"), Why::Header),
        ("kid too long", kid(&long), Why::Header),
        ("a key of its own", signed_with(own), Why::UnknownKey),
        ("crit", signed_with(&header.replace('}', r#","crit":["exp"]}"#)), Why::Header),
        (
            "typ of another use",
            signed_with(&header.replace('}', r#","typ":"logout+jwt"}"#)),
            Why::Header,
        ),
        ("alg twice", signed_with(&header.replace('}', r#","alg":"none"}"#)), Why::Malformed),
        ("sub twice", keys.ed.sign(&good.replace('}', r#","sub":"admin"}"#)), Why::Malformed),
        ("data behind the JSON", Keys::ed(&header, &format!("{good}x")), Why::Malformed),
        ("claims that are no object", Keys::ed(&header, "[]"), Why::Malformed),
        (
            "claims that are not UTF-8",
            Keys::ed_bytes(&encoded(header.as_bytes()), &encoded(b"{\"sub\":\"\xff\"}")),
            Why::Malformed,
        ),
        ("two parts", signed.to_owned(), Why::Malformed),
        ("four parts", format!("{valid}."), Why::Malformed),
        ("five parts, encrypted", format!("{valid}.a.b"), Why::Malformed),
        ("a padded signature", format!("{valid}=="), Why::Malformed),
        (
            "a padded header",
            Keys::ed_bytes(&format!("{}=", encoded(header.as_bytes())), &encoded(good.as_bytes())),
            Why::Malformed,
        ),
        (
            "standard base64",
            format!("{signed}.{}", signature.replace(['-', '_'], "+")),
            if signature.contains(['-', '_']) { Why::Malformed } else { Why::Signature },
        ),
        ("a space", valid.replace('.', ". "), Why::Malformed),
        ("a line break at the end", format!("{valid}\n"), Why::Malformed),
        ("no signature", format!("{signed}."), Why::Signature),
        ("a cut signature", format!("{signed}.{}", &signature[..40]), Why::Signature),
        ("a signature of zeros", format!("{signed}.{}", encoded(&[0; 64])), Why::Signature),
        ("9 KiB", format!("{signed}.{}", "A".repeat(9 << 10)), Why::TooLong),
        ("another issuer", with(&[("iss", "\"https://id.example/\"")]), Why::UnknownIssuer),
        ("issuer in capitals", with(&[("iss", "\"HTTPS://id.example\"")]), Why::UnknownIssuer),
        ("no issuer", with(&[("iss", "")]), Why::UnknownIssuer),
        ("a list of issuers", with(&[("iss", "[\"https://id.example\"]")]), Why::ClaimType),
        ("ended", with(&[("exp", &past)]), Why::Ended),
        ("ended in 1970", with(&[("exp", "0")]), Why::Ended),
        ("no end", with(&[("exp", "")]), Why::Missing),
        ("an end that is a text", with(&[("exp", "\"9999999999\"")]), Why::ClaimType),
        ("an end that is null", with(&[("exp", "null")]), Why::ClaimType),
        ("an end below zero", with(&[("exp", "-1")]), Why::ClaimType),
        ("an end beyond time", with(&[("exp", "1e300")]), Why::ClaimType),
        ("not yet", with(&[("nbf", &soon)]), Why::NotYet),
        ("nbf as a text", with(&[("nbf", "\"0\"")]), Why::ClaimType),
        ("made in the future", with(&[("iat", &soon)]), Why::NotYet),
        ("iat as true", with(&[("iat", "true")]), Why::ClaimType),
        ("another audience", with(&[("aud", "\"else\"")]), Why::Audience),
        ("an audience that begins alike", with(&[("aud", "\"bus2\"")]), Why::Audience),
        ("no audience", with(&[("aud", "")]), Why::Audience),
        ("an empty list of audiences", with(&[("aud", "[]")]), Why::Audience),
        ("an audience that is a number", with(&[("aud", "7")]), Why::ClaimType),
        ("an audience with a number in it", with(&[("aud", "[\"bus\",7]")]), Why::ClaimType),
        ("an audience that is an object", with(&[("aud", "{\"bus\":1}")]), Why::ClaimType),
        ("no user", with(&[("sub", "")]), Why::Missing),
        ("a user that is a number", with(&[("sub", "7")]), Why::ClaimType),
        ("an empty user", with(&[("sub", "\"\"")]), Why::TooManyClaims),
        ("a user with a line break", with(&[("sub", "\"a\\nb\"")]), Why::TooManyClaims),
        ("a user too long", with(&[("sub", &long)]), Why::TooManyClaims),
        ("roles that are a number", with(&[("roles", "7")]), Why::ClaimType),
        ("too many roles", with(&[("roles", &many)]), Why::TooManyClaims),
        ("too many claims", with(&[("groups", &many)]), Why::TooManyClaims),
        ("a huge claim", with(&[("note", &long)]), Why::TooManyClaims),
        ("jti as a number", with(&[("jti", "7")]), Why::ClaimType),
    ];
    for (name, token, why) in rows {
        assert_eq!(rules.verify(token.as_bytes(), NOW_S), Err(why), "{name}: {token}");
    }
}

#[test]
fn another_encoding_of_the_same_signature_is_refused() {
    let keys = Keys::new();
    let valid = keys.ed.sign(&claims(&[]));
    // 64 bytes are 86 characters; the last one has four bits that are unused, and must be zero.
    let last = valid.as_bytes()[valid.len() - 1];
    for other in b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_" {
        let mut token = valid.clone().into_bytes();
        *token.last_mut().unwrap() = *other;
        assert_eq!(keys.rules().verify(&token, NOW_S).is_ok(), *other == last);
    }
}

#[test]
fn what_was_revoked_or_removed_holds_no_more() {
    let keys = Keys::new();
    let made = NOW_S - 5;
    let token = keys.ed.sign(&claims(&[("jti", "\"7\""), ("iat", &made.to_string())]));
    let grant = keys.rules().verify(token.as_bytes(), NOW_S).unwrap();
    let issuer = || keys.rules().issuers()[0].clone();
    let revoked = |ids: &[&str], users: &[(&str, i64)]| {
        let ids = ids.iter().map(|id| ((*id).into(), NOW_S)).collect();
        let users = users.iter().map(|(user, until_s)| ((*user).into(), *until_s)).collect();
        TokenRules::new(vec![issuer()], ids, users)
    };
    let alone = |issuer| TokenRules::new(vec![issuer], HashMap::new(), HashMap::new());
    let other_keys = TokenIssuer { keys: TokenKeys::default(), ..issuer() };
    let other_audience = TokenIssuer { audience: Box::new(["else".into()]), ..issuer() };
    let other_name = TokenIssuer { issuer: "https://other".into(), ..issuer() };
    let rows = [
        (revoked(&[], &[]), None),
        (revoked(&["8"], &[("ben", NOW_S)]), None),
        (revoked(&[], &[("anna", made - 61)]), None),
        (revoked(&[], &[("anna", made - 60)]), Some(TokenError::Revoked)), // its clock may be ahead
        (revoked(&["7"], &[]), Some(TokenError::Revoked)),
        (revoked(&[], &[("anna", made)]), Some(TokenError::Revoked)),
        (alone(other_keys), Some(TokenError::UnknownKey)),
        (alone(other_audience), Some(TokenError::Audience)),
        (alone(other_name), Some(TokenError::UnknownIssuer)),
        (TokenRules::default(), Some(TokenError::UnknownIssuer)),
    ];
    for (rules, why) in rows {
        assert_eq!(rules.verify(token.as_bytes(), NOW_S).err(), why);
        assert_eq!(rules.holds(&grant), why.is_none());
    }
    let without_iat = keys.ed.sign(&claims(&[]));
    let rules = revoked(&[], &[("anna", 1)]);
    assert_eq!(rules.verify(without_iat.as_bytes(), NOW_S), Err(TokenError::Revoked));
}

#[test]
fn a_list_with_something_else_in_it_hides_no_text_from_the_rules() {
    let keys = Keys::new();
    let token = keys.ed.sign(&claims(&[("groups", r#"["banned",7,true,null,{"a":1},["b"]]"#)]));
    let grant = keys.rules().verify(token.as_bytes(), NOW_S).unwrap();
    let groups = grant.identity.claims.iter().filter(|(name, _)| &**name == "groups");
    let groups: Vec<&str> = groups.map(|(_, value)| &**value).collect();
    assert_eq!(groups, ["banned", "7", "true"]);
}

#[test]
fn roles_come_from_a_path_or_from_a_text_with_spaces() {
    let keys = Keys::new();
    let mut issuer = keys.rules().issuers()[0].clone();
    issuer.roles_claim = "realm_access.roles".into();
    let rules = TokenRules::new(vec![issuer.clone()], HashMap::new(), HashMap::new());
    let token = keys.ed.sign(&claims(&[("realm_access", r#"{"roles":["a","b"]}"#)]));
    let read = |rules: &TokenRules, token: &str| {
        rules.verify(token.as_bytes(), NOW_S).unwrap().identity.roles.join(" ")
    };
    assert_eq!(read(&rules, &token), "a b");
    issuer.roles_claim = "scope".into();
    let rules = TokenRules::new(vec![issuer], HashMap::new(), HashMap::new());
    assert_eq!(read(&rules, &keys.ed.sign(&claims(&[("scope", "\"a  b\"")]))), "a b");
}

#[test]
fn keys_that_are_too_short_shared_or_for_another_use_are_refused_in_words() {
    let short = encoded(&[0xff; 128]);
    let long = encoded(&[0xff; 256]);
    let rsa = |n: &str, e: &str, more: &str| {
        format!(r#"{{"kty":"RSA","kid":"k","n":"{n}","e":"{e}"{more}}}"#)
    };
    let rows = [
        (rsa(&short, "AQAB", ""), "RSA key of 1024 bits"),
        (rsa(&long, "Aw", ""), "exponent"),
        (rsa(&long, "AQAB", r#","use":"enc""#), "not for signatures"),
        (rsa(&long, "AQAB", r#","alg":"PS256""#), "PS256"),
        (rsa("=", "AQAB", ""), "not base64url"),
        (r#"{"kty":"oct","k":"AAAA"}"#.into(), "shared secret"),
        (r#"{"kty":"EC","crv":"P-384","x":"","y":""}"#.into(), "not supported"),
        (r#"{"kty":"OKP","crv":"Ed25519","x":"AAAA"}"#.into(), "3 bytes, not 32"),
        (r#"{"kty":"OKP","crv":"Ed25519","kid":7,"x":"AAAA"}"#.into(), "kid"),
        (rsa(&long, "AQAB", r#","d":"AQAB""#), "private part"),
        (TokenSigner::from_seed([3; 32]).private_jwk(), "private part"),
        (rsa(&long, "AQAB", r#","key_ops":["encrypt"]"#), "key_ops"),
        (rsa(&long, "AQAB", r#","key_ops":"verify""#), "key_ops"),
        ("<html>".into(), "not a JSON object"),
        (r#"{"keys":7}"#.into(), "not a list"),
    ];
    for (text, why) in rows {
        let told = TokenKeys::read(&text).unwrap_err().to_string();
        assert!(told.contains(why), "{told}");
    }
    let mixed = format!(r#"{{"keys":[{},{}]}}"#, rsa(&short, "AQAB", ""), rsa(&long, "AQAB", ""));
    let (keys, refused) = TokenKeys::read(&mixed).unwrap();
    assert_eq!((keys.len(), refused.len()), (1, 1));
}

#[test]
fn a_signing_key_is_read_as_it_was_written() {
    let signer = TokenSigner::from_seed([3; 32]);
    let again = TokenSigner::from_jwk(&signer.private_jwk()).unwrap();
    assert_eq!((again.id(), again.public_jwk()), (signer.id(), signer.public_jwk()));
    assert!(!signer.public_jwk().contains("\"d\""));
    assert!(!format!("{signer:?}").contains(&encoded(&[3; 32])));
    let torn = signer.private_jwk().replace("\"d\":\"A", "\"d\":\"B");
    assert!(TokenSigner::from_jwk(&torn).is_err());
    assert!(TokenSigner::from_jwk("{}").is_err());
}

proptest! {
    #[test]
    fn one_changed_byte_is_never_accepted(at in 0..10_000_usize, bit in 0..8_u32) {
        let keys = Keys::new();
        let mut token = keys.ed.sign(&claims(&[])).into_bytes();
        let at = at % token.len();
        token[at] ^= 1 << bit;
        prop_assert!(keys.rules().verify(&token, NOW_S).is_err());
    }

    #[test]
    fn any_bytes_are_refused_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let rules = Keys::new().rules();
        rules.is_token(&bytes);
        prop_assert!(rules.verify(&bytes, NOW_S).is_err());
    }

    #[test]
    fn a_token_holds_from_its_beginning_to_its_end_with_leeway(begins in 0..500_i64, lasts in 1..500_i64, at in -200..1_200_i64) {
        let keys = Keys::new();
        let (nbf, exp) = ((NOW_S + begins).to_string(), (NOW_S + begins + lasts).to_string());
        let token = keys.ed.sign(&claims(&[("nbf", &nbf), ("exp", &exp)]));
        let is_accepted = keys.rules().verify(token.as_bytes(), NOW_S + at).is_ok();
        prop_assert_eq!(is_accepted, at + 60 >= begins && at < begins + lasts + 60);
    }
}
