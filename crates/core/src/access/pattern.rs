//! Topic filters of rules, whose levels may have placeholders: `%u` the user, `%c` the client, `%{claim}` a claim.

use std::borrow::Cow;

use slipring_wire::check_filter;

use super::{RuleError, Subject};

/// A topic filter of a rule.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Pattern {
    pub text: Box<str>,
    pub has_placeholders: bool,
}

/// A piece of a level with placeholders.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(Box<str>),
    User,
    Client,
    Claim(Box<str>),
}

/// A level with placeholders, such as `engine-%c`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LevelTemplate(Vec<Piece>);

impl Pattern {
    pub fn parse(text: &str) -> Result<Self, RuleError> {
        let refused = |why: String| RuleError::Topic { topic: text.into(), why };
        let mut has_placeholders = false;
        // A placeholder is replaced by a name before the filter is checked: MQTT's own rules hold for the rest.
        let mut plain = Vec::new();
        for level in text.split('/') {
            if level.contains('%') {
                LevelTemplate::parse(level).map_err(&refused)?;
                has_placeholders = true;
                if level.contains(['+', '#']) {
                    return Err(refused("a level has both a placeholder and a wildcard".into()));
                }
                plain.push("x");
            } else {
                plain.push(level);
            }
        }
        check_filter(&plain.join("/")).map_err(|why| refused(why.to_string()))?;
        if text.starts_with("$share/") {
            return Err(refused("name the topics, without $share".into()));
        }
        Ok(Self { text: text.into(), has_placeholders })
    }

    /// The filter for one subject; None if a placeholder has no value that can stand in a topic.
    pub fn expand(&self, subject: Subject<'_>) -> Option<Cow<'_, str>> {
        if !self.has_placeholders {
            return Some(Cow::Borrowed(&self.text));
        }
        let levels = self.text.split('/').map(|level| {
            if !level.contains('%') {
                return Some(Cow::Borrowed(level));
            }
            let template = LevelTemplate::parse(level).expect("checked when the rule was made");
            template.expand(subject).map(Cow::Owned)
        });
        let levels: Option<Vec<_>> = levels.collect();
        Some(Cow::Owned(levels?.join("/")))
    }
}

impl LevelTemplate {
    pub fn parse(level: &str) -> Result<Self, String> {
        let mut pieces = Vec::new();
        let mut rest = level;
        while let Some(at) = rest.find('%') {
            if at > 0 {
                pieces.push(Piece::Text(rest[..at].into()));
            }
            let behind = &rest[at + 1..];
            rest = if let Some(rest) = behind.strip_prefix('u') {
                pieces.push(Piece::User);
                rest
            } else if let Some(rest) = behind.strip_prefix('c') {
                pieces.push(Piece::Client);
                rest
            } else if let Some((name, rest)) =
                behind.strip_prefix('{').and_then(|named| named.split_once('}'))
            {
                if name.is_empty() {
                    return Err("%{} names no claim".into());
                }
                pieces.push(Piece::Claim(name.into()));
                rest
            } else if let Some(rest) = behind.strip_prefix('%') {
                pieces.push(Piece::Text("%".into()));
                rest
            } else {
                return Err("% must be followed by u, c, {claim} or %".into());
            };
        }
        if !rest.is_empty() {
            pieces.push(Piece::Text(rest.into()));
        }
        Ok(Self(pieces))
    }

    /// The level for one subject. None if a value is absent, or could be read as more than one level
    /// (CVE-2017-7650, CVE-2026-44838).
    pub fn expand(&self, Subject { identity, client_id }: Subject<'_>) -> Option<String> {
        let mut level = String::new();
        for piece in &self.0 {
            level.push_str(match piece {
                Piece::Text(text) => text,
                Piece::User => usable(identity.user.as_deref()?)?,
                Piece::Client => usable(client_id)?,
                Piece::Claim(name) => usable(identity.claim(name)?)?,
            });
        }
        Some(level)
    }

    /// Whether the level of a topic is this one for a subject.
    pub fn matches(&self, level: &str, subject: Subject<'_>) -> bool {
        self.expand(subject).is_some_and(|expanded| expanded == level)
    }
}

/// A value that can stand in a level of a topic, and means nothing but itself there.
fn usable(value: &str) -> Option<&str> {
    let is_special = |c: char| matches!(c, '/' | '+' | '#') || c.is_control();
    (!value.is_empty() && !value.starts_with('$') && !value.contains(is_special)).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::super::Identity;
    use super::*;

    fn expanded(pattern: &str, identity: &Identity, client_id: &str) -> Option<String> {
        let pattern = Pattern::parse(pattern).unwrap();
        pattern.expand(Subject { identity, client_id }).map(Cow::into_owned)
    }

    #[test]
    fn placeholders_stand_for_user_client_and_claims() {
        let claims = [("site", "north"), ("team", "a"), ("team", "b")];
        let claims = claims.map(|(key, value)| (key.into(), value.into())).into();
        let anna = Identity { claims, ..Identity::named("anna") };
        let rows = [
            ("a/+/#", Some("a/+/#")),
            ("fleet/%u/#", Some("fleet/anna/#")),
            ("fleet/%c", Some("fleet/c1")),
            ("x/%{site}-%u/50%%", Some("x/north-anna/50%")),
            ("x/%{team}", None),
            ("x/%{absent}", None),
        ];
        for (pattern, expected) in rows {
            assert_eq!(expanded(pattern, &anna, "c1").as_deref(), expected, "{pattern}");
        }
    }

    #[test]
    fn a_name_with_a_wildcard_or_several_levels_matches_nothing() {
        for name in ["#", "+", "a/b", "a+", "", "\u{7}", "a\0", "/", "$SYS"] {
            assert_eq!(expanded("x/%u", &Identity::named(name), "c"), None, "{name:?}");
            assert_eq!(expanded("x/%c/#", &Identity::named("u"), name), None, "{name:?}");
        }
        assert_eq!(expanded("x/%u", &Identity::default(), "c"), None);
    }

    #[test]
    fn what_is_no_pattern_is_refused_with_the_reason() {
        for text in ["", "a/#/b", "a/b+", "%x", "a/%", "%{}", "%u+", "#%c", "$share/g/a", "a/%{b"] {
            assert!(Pattern::parse(text).is_err(), "{text}");
        }
    }
}
