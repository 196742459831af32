//! Questions about clients that want to connect, which the control plane answers: never about messages.
//!
//! A client waits for its answer; nobody else does. Both kinds have a bound of their own, so that tokens with invented
//! keys cannot keep passwords from being asked about.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use slipring_core::Password;
use slipring_core::access::Identity;
use tokio::sync::oneshot;

use crate::locks::lock;
use crate::passwords::Checked;

/// Clients at once for which keys are read again; others are refused at once.
const KEY_QUESTIONS_MAX: usize = 64;
/// Clients at once that a service elsewhere is asked about; others are told that the broker is busy.
const LOGIN_QUESTIONS_MAX: usize = 1_024;

/// A question about one client.
#[derive(Clone, Debug)]
pub struct Question {
    /// The answer names it.
    pub number: u64,
    /// What is asked.
    pub asked: QuestionKind,
}

/// What the control plane is asked.
#[derive(Clone, Debug)]
pub enum QuestionKind {
    /// Read the keys of this issuer again: a token names one that is not known.
    Keys(String),
    /// Is this client let in?
    Login(Login),
}

/// A client that brings a password, and is no user here.
#[derive(Clone, Debug)]
pub struct Login {
    /// The client identifier.
    pub client_id: String,
    /// The user name that it gives.
    pub user_name: Option<String>,
    /// The password.
    pub password: Password,
    /// Where it connects from.
    pub address: String,
    /// The index of the listener that it connects to.
    pub listener: usize,
}

/// The answer to a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The keys were read; check the token again.
    KeysRead,
    /// The client is let in as this, for so long.
    Allowed(Arc<Identity>, Option<Duration>),
    /// It is not.
    Denied,
    /// Nobody could say.
    Unanswered,
}

/// The questions that were not answered yet.
#[derive(Default)]
pub(crate) struct Questions {
    // A lock: taken for a moment to ask, to fetch and to answer.
    open: Mutex<OpenQuestions>,
    /// Told when there is a question to fetch.
    asked: Condvar,
}

#[derive(Default)]
struct OpenQuestions {
    next: u64,
    unfetched: VecDeque<Question>,
    askers: HashMap<u64, (bool, oneshot::Sender<Answer>)>,
}

impl OpenQuestions {
    /// How many of a kind are open, without those whose client has gone.
    fn count(&mut self, is_login: bool) -> usize {
        self.askers.retain(|_, (_, asker)| !asker.is_closed());
        let Self { askers, unfetched, .. } = self;
        unfetched.retain(|question| askers.contains_key(&question.number));
        askers.values().filter(|(login, _)| *login == is_login).count()
    }
}

impl Questions {
    /// Asks; `Busy` if too many questions of the kind are open.
    pub fn ask(&self, asked: QuestionKind) -> impl Future<Output = Checked> + Send + use<> {
        let (answer, answered) = oneshot::channel();
        let is_login = matches!(asked, QuestionKind::Login(_));
        let most = if is_login { LOGIN_QUESTIONS_MAX } else { KEY_QUESTIONS_MAX };
        let mut open = lock(&self.open);
        if open.count(is_login) < most {
            open.next += 1;
            let number = open.next;
            open.askers.insert(number, (is_login, answer));
            open.unfetched.push_back(Question { number, asked });
            self.asked.notify_all();
        } else {
            drop(answer);
        }
        drop(open);
        async move { answered.await.map_or(Checked::Busy, Checked::Answered) }
    }

    /// The questions since the last call; waits for one at most so long.
    pub fn fetch(&self, wait: Duration) -> Vec<Question> {
        let open = lock(&self.open);
        let is_idle = |open: &mut OpenQuestions| open.unfetched.is_empty();
        let (mut open, _) = self
            .asked
            .wait_timeout_while(open, wait, is_idle)
            .unwrap_or_else(PoisonError::into_inner);
        open.unfetched.drain(..).collect()
    }

    /// Answers a question; the client may be gone.
    pub fn answer(&self, number: u64, answer: Answer) {
        if let Some((_, asker)) = lock(&self.open).askers.remove(&number) {
            let _ = asker.send(answer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys() -> QuestionKind {
        QuestionKind::Keys("us".into())
    }

    #[tokio::test]
    async fn a_question_is_fetched_once_and_answered_once() {
        let questions = Questions::default();
        let asked = questions.ask(keys());
        let fetched = questions.fetch(Duration::ZERO);
        assert_eq!(fetched.len(), 1);
        assert!(questions.fetch(Duration::ZERO).is_empty());
        questions.answer(fetched[0].number, Answer::KeysRead);
        questions.answer(fetched[0].number, Answer::Denied);
        questions.answer(99, Answer::Denied);
        assert_eq!(asked.await, Checked::Answered(Answer::KeysRead));
    }

    #[tokio::test]
    async fn each_kind_has_its_bound_and_clients_that_went_do_not_count() {
        let questions = Questions::default();
        let waiting: Vec<_> = (0..KEY_QUESTIONS_MAX).map(|_| questions.ask(keys())).collect();
        assert_eq!(questions.ask(keys()).await, Checked::Busy);
        let login = Login {
            client_id: String::new(),
            user_name: None,
            password: Password::from(&b"x"[..]),
            address: String::new(),
            listener: 0,
        };
        let _asked = questions.ask(QuestionKind::Login(login));
        assert_eq!(questions.fetch(Duration::ZERO).len(), KEY_QUESTIONS_MAX + 1);
        drop(waiting);
        let again = questions.ask(keys());
        let fetched = questions.fetch(Duration::ZERO);
        assert_eq!(fetched.len(), 1);
        questions.answer(fetched[0].number, Answer::KeysRead);
        assert_eq!(again.await, Checked::Answered(Answer::KeysRead));
    }
}
