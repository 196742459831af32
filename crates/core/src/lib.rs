//! What the broker knows and decides: topic tree, sessions, queues, retained and newest values, the plan.
//!
//! No sockets, no threads, no clock: time comes in as an argument, what to do comes out as a value. Three
//! things are not plain values, because threads share them: a topic's newest value has a lock of its own
//! (`Slot`), so that publishers of different topics never wait for each other; the memory in use is counted for
//! the whole process (`memory`); and the buffers of large packets go round in one pool with a lock (`recycled`).

#![warn(clippy::disallowed_methods)]

mod admission;
mod auth;
mod conversation;
mod delivery;
pub mod desk;
mod durability;
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
mod publishers;
mod quota;
pub mod recycled;
mod retained;
mod session;
mod share;
mod shared_bytes;
mod shortened;
mod stop;
pub mod streams;
mod subscribed;
pub mod table;
mod topics;
mod tree;
mod values;
mod waiting;
mod will;
mod work;

pub use admission::{Admission, Applicant, ConnectRefusal, EarlierSession, Occupancy};
pub use auth::{
    Authentication, NONCE_BYTES, Password, Proof, Secret, Users, Verdict, Verifier, VerifierError,
    WRONG,
};
pub use conversation::{Action, Conversation, Goodbye, Incoming, Opening};
pub use delivery::{DROPPED_PROPERTY, Delivery, Extras, Identifiers, encode, encode_head};
pub use durability::{Durability, DurabilityRule, UnknownDurability};
pub use keys::{ConnectionKey, Offset, ParameterIndex, SessionKey, StreamIndex};
pub use limits::{Limit, Limits, NAME_BYTES_MAX};
pub use message::{Message, Millis, Place, Stored, expiry};
pub use outgoing::{
    ASKED_MAX, AnswerTerms, Dropped, Outgoing, Overflow, Pushed, Replay, SHORT_BYTES, Settled,
    Taken, Terms,
};
pub use packets::Packets;
pub use plan::{JournalRule, Plan, PlanError, Retention, TableRules};
pub use principal::{Principal, Right, Rights, Way};
pub use quota::{Holder, Owner, Quota, Shares};
pub use retained::{Retained, RetainedPage};
pub use session::{Options, Session};
pub use share::{Readiness, choose_member};
pub use shared_bytes::{SHARED_BYTES_MIN, SharedBytes};
pub use shortened::shortened;
pub use stop::Stop;
pub use subscribed::{Change, Choosing, Refused, Subscribed};
pub use tree::{Leaf, Tree};
pub use values::{Changed, Newest, Slot, Values};
pub use waiting::{PRIORITY_PROPERTY, Priority, WAIT_PROPERTY, Waited, Waiting, asks_to_wait};
pub use will::WillMessage;
pub use work::Work;

/// How many levels a topic or a filter has.
fn levels(topic: &str) -> usize {
    1 + topic.bytes().filter(|byte| *byte == b'/').count()
}
