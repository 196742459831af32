//! The life of a request (T2): its states, and what leads from one to the next. `docs/requests.md` has the same table.

/// Where a request is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum RequestState {
    /// It has just come.
    New,
    /// It waits for a service.
    Stored,
    /// A service has it.
    Delivered,
    /// The service has answered.
    Answered,
    /// The answer waits for the asker, which is away.
    AnswerStored,
    /// End: the asker has the answer.
    AnswerDelivered,
    /// End: there is no service, and it did not ask to wait for one.
    RequestNotDelivered,
    /// End: the asker did not come back for the answer.
    AnswerNotDelivered,
    /// End: the asker gave it up.
    Cancelled,
    /// End: its time was over.
    TimedOut,
    /// End: the service could not, or has gone.
    Failed,
    /// End: it was dropped, because memory is short.
    Dropped,
}

/// What happens to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum RequestEvent {
    /// A service gets it.
    Deliver,
    /// No service is free.
    Store,
    /// There is no service, and it does not wait for one.
    NoService,
    /// Its service has gone, and it may go to another one.
    Return,
    /// The service answers.
    Answer,
    /// The service says that it cannot, or has gone.
    Fail,
    /// The asker is away.
    AskerAway,
    /// The asker has the answer.
    AskerHas,
    /// The session of the asker is over.
    AskerGone,
    /// The asker gives it up.
    Cancel,
    /// Its time is over.
    TimeOut,
    /// Memory is short.
    Drop,
}

use RequestEvent as Event;
use RequestState as State;

/// Every step that a request can take. What is not here cannot happen.
pub const TRANSITIONS: &[(State, Event, State)] = &[
    (State::New, Event::Deliver, State::Delivered),
    (State::New, Event::Store, State::Stored),
    (State::New, Event::NoService, State::RequestNotDelivered),
    (State::New, Event::AskerGone, State::Cancelled),
    (State::New, Event::Cancel, State::Cancelled),
    (State::New, Event::TimeOut, State::TimedOut),
    (State::New, Event::Drop, State::Dropped),
    (State::Stored, Event::Deliver, State::Delivered),
    (State::Stored, Event::NoService, State::RequestNotDelivered),
    (State::Stored, Event::AskerGone, State::Cancelled),
    (State::Stored, Event::Cancel, State::Cancelled),
    (State::Stored, Event::TimeOut, State::TimedOut),
    (State::Stored, Event::Drop, State::Dropped),
    (State::Delivered, Event::Return, State::Stored),
    (State::Delivered, Event::Answer, State::Answered),
    (State::Delivered, Event::Fail, State::Failed),
    (State::Delivered, Event::AskerGone, State::Cancelled),
    (State::Delivered, Event::Cancel, State::Cancelled),
    (State::Delivered, Event::TimeOut, State::TimedOut),
    (State::Delivered, Event::Drop, State::Dropped),
    (State::Answered, Event::AskerHas, State::AnswerDelivered),
    (State::Answered, Event::AskerAway, State::AnswerStored),
    (State::Answered, Event::AskerGone, State::AnswerNotDelivered),
    (State::AnswerStored, Event::AskerHas, State::AnswerDelivered),
    (State::AnswerStored, Event::AskerGone, State::AnswerNotDelivered),
    (State::AnswerStored, Event::Cancel, State::Cancelled),
    (State::AnswerStored, Event::Drop, State::Dropped),
];

impl RequestState {
    /// Every state.
    pub const ALL: [Self; 12] = [
        Self::New,
        Self::Stored,
        Self::Delivered,
        Self::Answered,
        Self::AnswerStored,
        Self::AnswerDelivered,
        Self::RequestNotDelivered,
        Self::AnswerNotDelivered,
        Self::Cancelled,
        Self::TimedOut,
        Self::Failed,
        Self::Dropped,
    ];

    /// The state after an event; None if the event cannot happen in this state.
    pub fn after(self, event: RequestEvent) -> Option<Self> {
        let found = TRANSITIONS.iter().find(|(from, what, _)| *from == self && *what == event);
        found.map(|(_, _, to)| *to)
    }

    /// Whether the request is over.
    pub fn is_end(self) -> bool {
        self >= Self::AnswerDelivered
    }

    /// Its name, as people see it.
    pub fn name(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Stored => "stored",
            Self::Delivered => "delivered",
            Self::Answered => "answered",
            Self::AnswerStored => "answer stored",
            Self::AnswerDelivered => "answer delivered",
            Self::RequestNotDelivered => "request not delivered",
            Self::AnswerNotDelivered => "answer not delivered",
            Self::Cancelled => "cancelled",
            Self::TimedOut => "timed out",
            Self::Failed => "failed",
            Self::Dropped => "dropped",
        }
    }

    /// The `slipring-status` by which the asker learns of this end; None for states that are not told.
    pub fn status(self) -> Option<&'static str> {
        Some(match self {
            Self::Answered | Self::AnswerStored | Self::AnswerDelivered => "answered",
            Self::RequestNotDelivered => "not-delivered",
            Self::Cancelled => "cancelled",
            Self::TimedOut => "timed-out",
            Self::Failed => "failed",
            Self::Dropped => "dropped",
            Self::New | Self::Stored | Self::Delivered | Self::AnswerNotDelivered => return None,
        })
    }
}

impl RequestEvent {
    /// Every event.
    pub const ALL: [Self; 12] = [
        Self::Deliver,
        Self::Store,
        Self::NoService,
        Self::Return,
        Self::Answer,
        Self::Fail,
        Self::AskerAway,
        Self::AskerHas,
        Self::AskerGone,
        Self::Cancel,
        Self::TimeOut,
        Self::Drop,
    ];
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = include_str!("../../../../docs/requests.md");

    /// The page's table: a row for each state, a column for each event, the name of the next state in a cell.
    #[test]
    fn the_table_is_the_one_of_the_page() {
        let rows = PAGE.split("\n\n").find(|part| part.starts_with("| state |")).expect("a table");
        let rows: Vec<Vec<&str>> = rows
            .lines()
            .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
            .collect();
        assert_eq!(rows.len(), 2 + State::ALL.len());
        assert_eq!(rows[0].len(), 1 + Event::ALL.len());
        for (state, row) in State::ALL.iter().zip(&rows[2..]) {
            assert_eq!(row[0], state.name());
            for (event, cell) in Event::ALL.iter().zip(&row[1..]) {
                let next = state.after(*event).map_or("", State::name);
                assert_eq!(*cell, next, "{state:?} after {event:?}");
            }
        }
    }

    #[test]
    fn nothing_leads_out_of_an_end_and_every_other_state_leads_to_one() {
        for state in State::ALL {
            let next: Vec<State> =
                Event::ALL.iter().filter_map(|event| state.after(*event)).collect();
            assert_eq!(state.is_end(), next.is_empty(), "{state:?}");
            assert!(state.is_end() || next.iter().any(|next| next.is_end()), "{state:?}");
        }
    }

    #[test]
    fn a_step_is_in_the_table_once() {
        let mut steps: Vec<_> =
            TRANSITIONS.iter().map(|(from, event, _)| (*from, *event)).collect();
        steps.sort_unstable();
        assert!(steps.windows(2).all(|pair| pair[0] != pair[1]));
    }
}
