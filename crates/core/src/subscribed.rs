//! What a SUBSCRIBE changed: the filters that were entered, and those that were refused and why.

use slipring_wire::Reason;

use crate::table::Needs;
use crate::{Limit, Options};

const NO_ROOM: &str = "there is no room to remember what selections with `change` or `deadband` were \
                       sent (limits.selection_bytes); choose fewer parameters, or leave `change` \
                       and `deadband` out";
const NO_QUOTA: &str = "this user or address has selections with `change` or `deadband` that remember as \
                        much as one may (limits.owner_selections_percent); give some up first";
const NO_RESERVE: &str = "the last room for selections with `change` or `deadband` is kept for users and \
                          addresses that have few (limits.reserve_percent)";

/// A subscription that was entered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The filter as the client wrote it.
    pub filter: Box<str>,
    /// What it asks for.
    pub options: Options,
    /// Whether retained messages are to be sent.
    pub replay: bool,
}

/// A subscription that was not entered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The filter as the client wrote it.
    pub filter: Box<str>,
    /// What the client is told.
    pub reason: Reason,
    /// The limit that was reached.
    pub limit: Option<Limit>,
}

/// What is to be known of the client and of the table before a filter is entered.
pub trait Choosing {
    /// Whether the client may subscribe to this filter.
    fn may_subscribe(&self, filter: &str) -> bool;

    /// Whether a filter names a list that is there. It stays for the session.
    fn is_list(&mut self, filter: &str) -> bool;

    /// Whether a filter matches parameters: a plain subscription reads them.
    fn is_read(&mut self, filter: &str) -> bool;

    /// Whether there is room to serve a selection, with those that found room before in the same packet;
    /// the limit in its way.
    fn check_room(&mut self, filter: &str, identifier: u32, needs: Needs) -> Result<(), Limit>;
}

/// What a SUBSCRIBE changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subscribed {
    /// Entered, new or replaced.
    pub changes: Vec<Change>,
    /// Refused, each for its own reason.
    pub refused: Vec<Refused>,
    /// What could not be understood of its needs; then all are refused.
    pub unclear: Option<String>,
}

impl Subscribed {
    /// Why filters were refused, where a code does not say it.
    pub fn why(&self) -> Option<&str> {
        let no_room = self.refused.iter().find_map(|refused| match refused.limit? {
            Limit::SelectionBytes => Some(NO_ROOM),
            Limit::OwnerSelections => Some(NO_QUOTA),
            Limit::ReservePercent => Some(NO_RESERVE),
            _ => None,
        });
        self.unclear.as_deref().or(no_room)
    }
}
