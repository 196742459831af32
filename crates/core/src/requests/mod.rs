//! Requests that the broker looks after (T2): each is with at most one service, and ends exactly once. Pure: the
//! caller passes the time and the subscribers, and does what it is told.

mod asked;
mod balance;
mod book;
#[cfg(test)]
mod book_tests;
mod census;
mod deadlines;
mod dispatch;
mod ending;
mod key;
mod looks;
mod pool;
mod response_times;
mod restoring;
mod rules;
mod service;
mod shown;
mod state;
mod terms;
mod turns;
mod victims;
#[cfg(test)]
mod waiting_tests;

pub use asked::{Asked, Handing, NewRequest, RestoredRequest, Surroundings};
pub use balance::{Balance, MemberView, UnknownBalance};
pub use book::RequestBook;
pub use census::TopicCount;
pub use ending::{Ending, GivenBack};
pub(crate) use key::REQUESTS;
pub use key::{ANSWERS, AnswerTopic, RequestKey};
pub use looks::Looked;
pub use pool::ServiceCandidate;
pub use response_times::{ResponseTimes, Speed};
pub use restoring::{BookRestorer, PreparedRequest};
pub use rules::{RequestRule, RequestRules};
pub use service::Participant;
pub use shown::{EndedRequest, RequestCounts, RequestPage, RequestSummary, ServiceSummary};
pub use state::{RequestEvent, RequestState, TRANSITIONS};
pub use terms::{AnswerStatus, RequestTerms, STATUS_PROPERTY, TermsError};
pub use victims::AnswerName;
