//! What the broker knows and decides: topic tree, sessions, queues, retained and newest values, the plan.
//!
//! Pure: no sockets, no threads, no clock. Time comes in as an argument; what to do comes out as
//! a value.

mod auth;
mod conversation;
mod delivery;
mod durability;
pub mod ledger;
mod limits;
pub mod memory;
mod message;
mod outgoing;
mod packets;
mod pieces;
mod plan;
mod publishers;
mod quota;
pub mod recycled;
mod retained;
mod session;
mod shared;
mod shortened;
mod stop;
pub mod streams;
pub mod table;
mod topics;
mod tree;
mod values;
mod waiting;
mod will;
mod work;

pub use auth::{
    Authentication, NONCE_BYTES, Password, Proof, Secret, Users, Verdict, Verifier, VerifierError,
    WRONG,
};
pub use conversation::{Action, Conversation, Goodbye, Incoming, Opening};
pub use delivery::{DROPPED_PROPERTY, Delivery, Extras, Identifiers, encode, encode_head};
pub use durability::{Durability, DurabilityRule, UnknownDurability};
pub use limits::{Limit, Limits, NAME_BYTES_MAX};
pub use message::{Message, Millis, Place, Stored, expiry};
pub use outgoing::{
    ASKED_MAX, AnswerTerms, Dropped, Outgoing, Overflow, Pushed, Replay, SHORT_BYTES, Settled,
    Taken, Terms,
};
pub use packets::Packets;
pub use plan::{JournalRule, Plan, PlanError, Retention, TableRules};
pub use quota::{Holder, Owner, Quota, Shares};
pub use retained::{Retained, RetainedPage};
pub use session::{Change, Choosing, Options, Refused, Session, Subscribed};
pub use shared::{SHARED_BYTES_MIN, SharedBytes};
pub use shortened::shortened;
pub use stop::Stop;
pub use tree::{Leaf, Tree};
pub use values::{Changed, Newest, Slot, Values};
pub use waiting::{PRIORITY_PROPERTY, Priority, WAIT_PROPERTY, Waited, Waiting, asks_to_wait};
pub use will::WillMessage;
pub use work::Work;

/// How many levels a topic or a filter has.
fn levels(topic: &str) -> usize {
    1 + topic.bytes().filter(|byte| *byte == b'/').count()
}
