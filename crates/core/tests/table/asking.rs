//! A table to ask, with what a test wants to know of the answer.

use serde_json::Value;
use slipring_core::table::{Asking, Bounds, Current, Desk, Lists, Outcome, Registry, Request};

pub struct Asked {
    pub registry: Registry,
    pub lists: Lists,
    pub current: Current,
    pub bounds: Bounds,
    pub answer_bytes_max: usize,
}

impl Default for Asked {
    fn default() -> Self {
        Self {
            registry: Registry::new(7),
            lists: Lists::default(),
            current: Current::default(),
            bounds: Bounds::default(),
            answer_bytes_max: 1 << 20,
        }
    }
}

impl Asked {
    pub fn outcome(&mut self, session: u64, request: &str, body: &str) -> Outcome {
        self.outcome_of(session, request, body.as_bytes())
    }

    /// A client is called as its session; streams are called `stream/...`.
    pub fn outcome_of(&mut self, session: u64, request: &str, body: &[u8]) -> Outcome {
        let asking = Asking {
            session,
            client: &format!("client-{session}"),
            bounds: self.bounds,
            holder: None,
            is_stream: &|name| name.starts_with("stream/"),
            answer_bytes_max: self.answer_bytes_max,
        };
        let (registry, lists) = (&mut self.registry, &mut self.lists);
        let mut desk = Desk { registry, lists, current: &self.current };
        desk.answer(Request::parse(request, body), &asking)
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
