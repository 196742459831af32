//! The result of a SUBSCRIBE: the subscriptions that were made, and the refused ones with their reasons.

use slipring_wire::{FilterError, Reason, served, shared};

use crate::table::Needs;
use crate::{Limit, Options};

const NO_ROOM: &str = "there is no room to remember what selections with `change` or `deadband` were \
                       sent (limits.selection_bytes); choose fewer parameters, or leave `change` \
                       and `deadband` out";
const NO_QUOTA: &str = "this user or address has selections with `change` or `deadband` that remember as \
                        much as one may (limits.owner_selections_percent); give some up first";
const NO_RESERVE: &str = "the last room for selections with `change` or `deadband` is kept for users and \
                          addresses that have few (limits.reserve_percent)";

const SHARED_SERVICE: &str =
    "$slipring/serve/N/FILTER needs no $share: each request goes to one service";

const NO_MEMORY: &str = "the subscriptions of all clients take a quarter of the memory budget \
                         (limits.memory_bytes); use fewer filters, or shorter ones";

const NO_SUBSCRIPTION: &str = "this user or address has as many subscriptions as its quota allows \
                               (quota.subscriptions); give some up first";

/// A subscription that was made or replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubscriptionChange {
    /// The filter as the client wrote it.
    pub filter: Box<str>,
    /// What it asks for.
    pub options: Options,
    /// Whether the client gets the retained messages of the filter.
    pub replay: bool,
}

/// A subscription that was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedSubscription {
    /// The filter as the client wrote it.
    pub filter: Box<str>,
    /// The reason code in SUBACK.
    pub reason: Reason,
    /// The limit that was reached.
    pub limit: Option<Limit>,
    /// What is wrong with the filter, if the reason code does not say it.
    pub why: Option<String>,
}

/// How many requests a client computes at once, and of which topics, if its filter makes it a service.
pub(crate) fn service_of(filter: &str) -> Result<Option<(u16, &str)>, RefusedSubscription> {
    let refuse = |reason, why: String| {
        Err(RefusedSubscription { filter: filter.into(), reason, limit: None, why: Some(why) })
    };
    if let Some(Ok((_, topics))) = shared(filter)
        && served(topics).is_some()
    {
        return refuse(Reason::TopicFilterInvalid, SHARED_SERVICE.to_owned());
    }
    match served(filter).transpose() {
        Ok(service) => Ok(service),
        Err(error @ FilterError::ServeCount) => {
            refuse(Reason::ImplementationSpecificError, error.to_string())
        }
        Err(error) => refuse(Reason::TopicFilterInvalid, error.to_string()),
    }
}

/// Answers what a session asks about the client and the table before it makes a subscription.
pub trait SubscriptionChecks {
    /// Whether the client may subscribe to this filter, or select parameters or streams by it.
    fn may_subscribe(&self, filter: &str, is_selection: bool) -> bool;

    /// Whether the client's owner may have another subscription; if so, it is counted with those of the packet.
    fn has_quota(&mut self) -> bool;

    /// Whether the client may serve requests of these topics.
    fn may_serve(&self, topics: &str) -> bool;

    /// Whether a filter names a list that exists. The session keeps the list.
    fn is_list(&mut self, filter: &str) -> bool;

    /// Whether a filter matches parameters, so that a plain subscription to it is a reader.
    fn is_read(&mut self, filter: &str) -> bool;

    /// Whether there is memory for a further filter, besides the earlier ones of the same packet.
    fn has_memory_for(&mut self, filter: &str) -> bool;

    /// Checks that there is room for a selection, besides the earlier ones of the same packet. The error is the
    /// limit that prevents it.
    fn check_room(&mut self, filter: &str, identifier: u32, needs: Needs) -> Result<(), Limit>;
}

/// The result of a SUBSCRIBE.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SubscribeOutcome {
    /// Subscriptions that were made or replaced.
    pub changes: Vec<SubscriptionChange>,
    /// Refused ones.
    pub refused: Vec<RefusedSubscription>,
    /// What is wrong with the needs; then all are refused.
    pub unclear: Option<String>,
}

impl SubscribeOutcome {
    /// Why filters were refused, if the reason codes do not say it.
    pub fn why(&self) -> Option<&str> {
        let no_room = self.refused.iter().find_map(|refused| match refused.limit? {
            Limit::SelectionBytes => Some(NO_ROOM),
            Limit::OwnerSelections => Some(NO_QUOTA),
            Limit::ReservePercent => Some(NO_RESERVE),
            Limit::MemoryBytes => Some(NO_MEMORY),
            Limit::QuotaSubscriptions => Some(NO_SUBSCRIPTION),
            _ => None,
        });
        let wrong = self.refused.iter().find_map(|refused| refused.why.as_deref());
        self.unclear.as_deref().or(wrong).or(no_room)
    }
}
