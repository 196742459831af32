//! A table that answers the requests of a test.

use std::ops::{Deref, DerefMut};

use serde_json::Value;
use slipring_core::desk::{Desk, DeskBounds, RequestOutcome, Requester};
use slipring_core::table::{Current, Registry, Table, TableChange, TableRequest};
use slipring_core::{Limits, Plan, Principal, SessionKey};

pub type Outcome = RequestOutcome<TableChange>;

pub struct Asked {
    pub table: Table,
    pub bounds: DeskBounds,
    pub answer_bytes_max: usize,
}

pub fn bounds() -> DeskBounds {
    Table::bounds(&Limits::default())
}

impl Default for Asked {
    fn default() -> Self {
        Self {
            table: Table::new(Registry::new(7), Current::default(), &Plan::default()),
            bounds: bounds(),
            answer_bytes_max: 1 << 20,
        }
    }
}

impl Deref for Asked {
    type Target = Table;

    fn deref(&self) -> &Table {
        &self.table
    }
}

impl DerefMut for Asked {
    fn deref_mut(&mut self) -> &mut Table {
        &mut self.table
    }
}

impl Asked {
    pub fn outcome(&mut self, session: u64, request: &str, body: &str) -> Outcome {
        self.outcome_of(session, request, body.as_bytes())
    }

    /// The client is `client-` and the number of its session; names in `stream/` belong to streams.
    pub fn outcome_of(&mut self, session: u64, request: &str, body: &[u8]) -> Outcome {
        let requester = Requester {
            from: Principal {
                session: SessionKey::new(session),
                client_id: &format!("client-{session}"),
                ..Principal::broker()
            },
            bounds: self.bounds,
            is_taken: &|name| name.starts_with("stream/"),
            answer_bytes_max: self.answer_bytes_max,
            policy: slipring_core::access::AccessPolicy::open(),
        };
        self.table.answer(TableRequest::parse(request, body), &requester)
    }

    /// The answer to session 1.
    pub fn ask(&mut self, request: &str, body: &str) -> Value {
        let outcome = self.outcome(1, request, body);
        serde_json::from_slice(&outcome.answer).expect("answers are JSON")
    }

    /// Declares parameters of these types, by name.
    pub fn declare(&mut self, session: u64, parameters: &[(&str, &str)]) -> Outcome {
        let parameters: Vec<_> = parameters
            .iter()
            .map(|(name, kind)| serde_json::json!({"name": name, "type": kind}))
            .collect();
        let body = serde_json::json!({"parameters": parameters}).to_string();
        self.outcome(session, "declare", &body)
    }
}
