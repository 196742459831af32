//! Laws of the policy: it equals a naive evaluator, and a filter's access equals a look at every topic.

use std::collections::HashMap;

use proptest::prelude::*;
use slipring_wire::matches;

use super::*;

const RIGHTS: [Right; 3] = [Right::Publish, Right::Subscribe, Right::Journal];

/// A rule as words, so that the naive evaluator shares no code with the policy.
#[derive(Clone, Debug)]
struct Words {
    who: Vec<&'static str>,
    is_allowed: bool,
    rights: Vec<&'static str>,
    topics: Vec<String>,
}

fn words() -> impl Strategy<Value = Words> {
    let who = prop_oneof![
        Just("anyone"),
        Just("anonymous"),
        Just("known"),
        Just("user:anna"),
        Just("user:ben"),
        Just("role:engineer"),
        Just("claim:site=a"),
    ];
    let right = prop_oneof![Just("publish"), Just("subscribe"), Just("journal")];
    let level = prop_oneof![
        3 => Just("a"), 2 => Just("b"), 2 => Just("+"), 1 => Just("%u"), 1 => Just("%c"),
        1 => Just("%{site}"), 1 => Just("$x"),
    ];
    let topic =
        (prop::collection::vec(level, 1..4), any::<bool>()).prop_map(|(mut levels, all)| {
            if all {
                levels.push("#");
            }
            levels.join("/")
        });
    let (who, right) = (prop::collection::vec(who, 1..3), prop::collection::vec(right, 1..3));
    (who, prop::bool::weighted(0.7), right, prop::collection::vec(topic, 1..3))
        .prop_map(|(who, is_allowed, rights, topics)| Words { who, is_allowed, rights, topics })
}

fn identity() -> impl Strategy<Value = Identity> {
    let user = prop::option::of(prop_oneof![Just("anna"), Just("ben"), Just("a"), Just("+")]);
    let site = prop::option::of(prop_oneof![Just("a"), Just("b"), Just("#")]);
    (user, any::<bool>(), site).prop_map(|(user, is_engineer, site)| Identity {
        user: user.map(Into::into),
        roles: is_engineer.then(|| "engineer".into()).into_iter().collect(),
        claims: site.map(|site| ("site".into(), site.into())).into_iter().collect(),
    })
}

fn topic() -> impl Strategy<Value = String> {
    let level = prop_oneof![Just("a"), Just("b"), Just("anna"), Just("c1"), Just("z"), Just("$x")];
    prop::collection::vec(level, 1..4).prop_map(|levels| levels.join("/"))
}

fn policy(rules: &[Words]) -> AccessPolicy {
    let parse = |words: &Words| {
        let topics: Vec<&str> = words.topics.iter().map(|topic| &**topic).collect();
        AccessRule::parse(&words.who, words.is_allowed, &words.rights, &topics).unwrap()
    };
    let ben: Box<[Box<str>]> = ["engineer".into()].into();
    AccessPolicy::enforced(rules.iter().map(parse).collect(), HashMap::from([("ben".into(), ben)]))
}

fn naive(rules: &[Words], who: &Identity, right: Right, topic: &str) -> bool {
    let is_engineer = !who.roles.is_empty() || who.user.as_deref() == Some("ben");
    let site = who.claims.first().map(|(_, value)| &**value);
    let is_one = |name: &&str| match *name {
        "anyone" => true,
        "anonymous" => who.user.is_none(),
        "known" => who.user.is_some(),
        "role:engineer" => is_engineer,
        "claim:site=a" => site == Some("a"),
        user => who.user.as_deref() == user.strip_prefix("user:"),
    };
    let is_plain = |value: &str| !value.contains(['+', '#']);
    let fits = |filter: &String| {
        let mut filter = filter.clone();
        for (placeholder, value) in
            [("%u", who.user.as_deref()), ("%c", Some("c1")), ("%{site}", site)]
        {
            if filter.contains(placeholder) {
                let Some(value) = value.filter(|value| is_plain(value)) else { return false };
                filter = filter.replace(placeholder, value);
            }
        }
        matches(&filter, topic)
    };
    let about = rules.iter().filter(|rule| {
        rule.who.iter().any(is_one)
            && rule.rights.contains(&right.name())
            && rule.topics.iter().any(fits)
    });
    let answers: Vec<bool> = about.map(|rule| rule.is_allowed).collect();
    !answers.is_empty() && answers.iter().all(|is_allowed| *is_allowed)
}

proptest! {
    #[test]
    fn a_policy_equals_a_naive_evaluator(
        rules in prop::collection::vec(words(), 0..12),
        who in identity(),
        topics in prop::collection::vec(topic(), 1..12),
    ) {
        let policy = policy(&rules);
        let subject = Subject { identity: &who, client_id: "c1" };
        for topic in &topics {
            for right in RIGHTS {
                let expected = naive(&rules, &who, right, topic);
                prop_assert_eq!(policy.allows(subject, right, topic), expected, "{}", topic);
                let decision = policy.decide(subject, right, topic);
                prop_assert_eq!(decision.is_allowed, expected, "{}", topic);
                let rule = decision.rule.map(|at| rules[at].is_allowed);
                prop_assert_eq!(rule.unwrap_or(false), expected);
            }
        }
    }

    #[test]
    fn the_access_to_a_filter_promises_nothing_that_a_topic_denies(
        rules in prop::collection::vec(words(), 0..8),
        who in identity(),
        filter in words().prop_map(|words| words.topics[0].replace('%', "")),
        topics in prop::collection::vec(topic(), 1..40),
    ) {
        let policy = policy(&rules);
        let subject = Subject { identity: &who, client_id: "c1" };
        let access = policy.filter_access(subject, Right::Subscribe, &filter);
        for topic in topics.iter().filter(|topic| matches(&filter, topic)) {
            let is_allowed = policy.allows(subject, Right::Subscribe, topic);
            prop_assert!(access != FilterAccess::Whole || is_allowed, "{}", topic);
            prop_assert!(access != FilterAccess::Nothing || !is_allowed, "{}", topic);
        }
    }
}

#[test]
fn a_policy_that_is_not_enforced_allows_everything() {
    let policy = AccessPolicy::default();
    let subject = Subject { identity: Identity::anonymous(), client_id: "" };
    assert!(Right::ALL.iter().all(|right| policy.allows(subject, *right, "a")));
    assert_eq!(policy.filter_access(subject, Right::Subscribe, "#"), FilterAccess::Whole);
}

#[test]
fn an_enforced_policy_without_rules_denies_everything() {
    let policy = AccessPolicy::enforced(Vec::new(), HashMap::new());
    let anna = Identity::named("anna");
    let subject = Subject { identity: &anna, client_id: "c" };
    assert!(!Right::ALL.iter().any(|right| policy.allows(subject, *right, "a")));
    assert_eq!(policy.filter_access(subject, Right::Subscribe, "a"), FilterAccess::Nothing);
    assert!(!policy.allows_somewhere(subject, Right::Watch));
}
