//! Rules of a policy.

use super::pattern::Pattern;
use super::{Grant, Right};

/// Who a rule is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Who {
    /// Every client.
    Anyone,
    /// Every client that has proved no name.
    Anonymous,
    /// Every client that has proved a name.
    Known,
    /// A user.
    User(Box<str>),
    /// Whoever has a role.
    Role(Box<str>),
    /// Whoever has a claim with this value.
    Claim(Box<str>, Box<str>),
}

/// A rule: these may, or may not, do this on those topics.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessRule {
    pub(super) who: Box<[Who]>,
    pub(super) grant: Grant,
    pub(super) topics: Box<[Pattern]>,
}

/// Why a rule cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    /// It names nobody that can be understood.
    #[error(
        "'{0}' is nobody: write anyone, anonymous, known, user:NAME, role:NAME or claim:NAME=VALUE"
    )]
    Who(String),
    /// There is no such right.
    #[error("'{0}' is no right: {list}", list = rights())]
    Right(String),
    /// A text is not a topic filter.
    #[error("'{topic}' is not a topic filter of a rule: {why}")]
    Topic {
        /// The text.
        topic: String,
        /// What is wrong with it.
        why: String,
    },
}

fn rights() -> String {
    Right::ALL.map(Right::name).join(", ")
}

impl AccessRule {
    /// Makes a rule from the words of a file.
    pub fn parse<S: AsRef<str>>(
        who: &[S],
        is_allowed: bool,
        rights: &[S],
        topics: &[S],
    ) -> Result<Self, RuleError> {
        let right = |name: &S| {
            let name = name.as_ref();
            name.parse::<Right>().map_err(|()| RuleError::Right(name.into()))
        };
        let rights: Vec<Right> = rights.iter().map(right).collect::<Result<_, _>>()?;
        Ok(Self {
            who: who.iter().map(|who| Who::parse(who.as_ref())).collect::<Result<_, _>>()?,
            grant: Grant::of_rule(&rights, is_allowed),
            topics: topics
                .iter()
                .map(|topic| Pattern::parse(topic.as_ref()))
                .collect::<Result<_, _>>()?,
        })
    }
}

impl Who {
    fn parse(text: &str) -> Result<Self, RuleError> {
        let refused = || RuleError::Who(text.into());
        let named = |name: &str| if name.is_empty() { Err(refused()) } else { Ok(name.into()) };
        match text.split_once(':') {
            None if text == "anyone" => Ok(Self::Anyone),
            None if text == "anonymous" => Ok(Self::Anonymous),
            None if text == "known" => Ok(Self::Known),
            Some(("user", name)) => named(name).map(Self::User),
            Some(("role", name)) => named(name).map(Self::Role),
            Some(("claim", pair)) => {
                let (name, value) = pair.split_once('=').ok_or_else(refused)?;
                Ok(Self::Claim(named(name)?, named(value)?))
            }
            _ => Err(refused()),
        }
    }
}
