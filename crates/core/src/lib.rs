//! What the broker knows and decides: topic tree, sessions, queues, retained and newest values, the plan.
//!
//! The crate opens no socket, starts no thread and reads no clock: the caller passes the time, and gets back what
//! it has to do. Three things are shared between threads instead of being plain values: the newest value of a
//! topic has its own lock (`Slot`), so that publishers of different topics never wait for each other; `memory`
//! counts the bytes in use of the whole process; and `recycled` is one pool of buffers behind a lock.

#![warn(clippy::disallowed_methods)]

pub mod access;
mod admission;
pub mod alarms;
mod audit;
mod auth;
mod conversation;
mod delivery;
pub mod desk;
mod durability;
mod interned_texts;
mod keys;
pub mod ledger;
mod limits;
pub mod memory;
mod message;
mod outgoing;
mod packets;
mod pieces;
mod plan;
mod principal;
mod priority;
mod publishers;
mod quota;
pub mod recycled;
mod replaying;
pub mod requests;
mod retained;
mod session;
mod share;
mod shared_bytes;
mod shortened;
mod size;
mod stop;
pub mod streams;
mod subscribed;
pub mod table;
mod topic_pages;
mod topics;
mod tree;
mod values;
mod victims;
mod waiting;
mod will;
mod work;

pub use admission::{Admission, Applicant, ConnectRefusal, EarlierSession, Occupancy};
pub use audit::{AuditKind, AuditRules};
pub use auth::{
    Authentication, NONCE_BYTES, Password, Proof, Secret, TOKEN_BYTES_MAX, TokenAlgorithm,
    TokenError, TokenGrant, TokenIssuer, TokenKeyError, TokenKeys, TokenRules, TokenSigner, Users,
    Verdict, Verifier, VerifierError, WRONG,
};
pub use conversation::{Action, Conversation, Goodbye, Incoming, Opening};
pub use delivery::{DROPPED_PROPERTY, Delivery, Extras, Identifiers, encode, encode_head};
pub use durability::{Durability, DurabilityRule, UnknownDurability};
pub use interned_texts::InternedTexts;
pub use keys::{ConnectionKey, Offset, ParameterIndex, SessionKey, StreamIndex};
pub use limits::{Limit, Limits, NAME_BYTES_MAX};
pub use message::{Expiry, JournalPlace, Message, Millis, Stored, expiry};
pub use outgoing::{
    AnswerTerms, Dropped, Outgoing, Overflow, Pushed, Replay, SHORT_BYTES, Taken, Terms,
};
pub use packets::Packets;
pub use plan::{JournalRule, Plan, PlanError, Retention, TableRules};
pub use principal::{Principal, Way};
pub use priority::{PRIORITY_PROPERTY, Priority, PriorityRule, UnknownPriority, VictimRank};
pub use quota::{Holder, Owner, OwnerQuotas, Quota, QuotaRules, RateBucket, Shares};
pub use replaying::REPLAY_PROPERTY;
pub use retained::{Retained, RetainedPage};
pub use session::{Options, Session, selects};
pub use share::{Readiness, choose_member};
pub use shared_bytes::{SHARED_BYTES_MIN, SharedBytes};
pub use shortened::shortened;
pub use size::{SIZE_EXPECTED, parse_size};
pub use stop::Stop;
pub use subscribed::{
    RefusedSubscription, SubscribeOutcome, SubscriptionChange, SubscriptionChecks,
};
pub use tree::{Leaf, Tree};
pub use values::{NewestValue, Slot, ValueChanges, Values};
pub use victims::{JournalVictim, PublisherLoss, Victims};
pub use waiting::{WAIT_PROPERTY, Waiting, WaitingMessage, asks_to_wait};
pub use will::WillMessage;
pub use work::Work;

/// The number of levels of a topic or a filter.
fn levels(topic: &str) -> usize {
    1 + topic.bytes().filter(|byte| *byte == b'/').count()
}
