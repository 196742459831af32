//! Questions about clients that want to connect, which the control plane answers: never about messages.
//!
//! A client waits for its answer; nobody else does. Both kinds have a bound of their own, so that tokens with invented
//! keys cannot keep passwords from being asked about. Passwords wait in a line like those that the broker checks itself:
//! addresses and names that were wrong lately come last, so that a flood of invented names delays only itself.

use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use slipring_core::access::Identity;
use slipring_core::{Owner, Password};
use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::locks::lock;
use crate::passwords::Checked;
use crate::passwords::line::{Asker, CheckLine};

/// Clients at once for which keys are read again; others are refused at once.
const KEY_QUESTIONS_MAX: usize = 64;
/// Clients that wait until a service elsewhere is asked about them; of the address that has the most, the one that has
/// waited longest is told that the broker is busy.
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
    /// Told when there may be a question to fetch.
    news: Condvar,
}

#[derive(Default)]
struct OpenQuestions {
    next: u64,
    keys: Vec<Question>,
    key_askers: HashMap<u64, oneshot::Sender<Answer>>,
    logins: CheckLine<LoginQuestion>,
    /// Logins that were fetched and are not answered yet; some of their clients may have gone.
    asked_logins: HashMap<u64, (Asker, oneshot::Sender<Answer>)>,
}

struct LoginQuestion {
    number: u64,
    login: Login,
    answer: oneshot::Sender<Answer>,
}

impl OpenQuestions {
    fn ask_for_keys(&mut self, number: u64, issuer: String, answer: oneshot::Sender<Answer>) {
        self.key_askers.retain(|_, asker| !asker.is_closed());
        let Self { keys, key_askers, .. } = self;
        keys.retain(|question| key_askers.contains_key(&question.number));
        if key_askers.len() < KEY_QUESTIONS_MAX {
            key_askers.insert(number, answer);
            keys.push(Question { number, asked: QuestionKind::Keys(issuer) });
        }
    }

    fn ask_about(&mut self, number: u64, login: Login, answer: oneshot::Sender<Answer>) {
        let name = login.user_name.as_deref().unwrap_or_default();
        let asker = Asker { source: Owner::of(None, &login.address), name: name.into() };
        if self.logins.len() >= LOGIN_QUESTIONS_MAX {
            self.logins.retain(|question| !question.answer.is_closed());
        }
        self.logins.push(asker, LoginQuestion { number, login, answer }, usize::MAX);
        if self.logins.len() > LOGIN_QUESTIONS_MAX {
            drop(self.logins.shed()); // its client is told that the broker is busy
        }
    }

    /// Whether there is nothing to fetch while so many logins may be asked about at once.
    fn is_idle(&self, logins_max: usize) -> bool {
        let may_ask = self.asked_logins.len() < logins_max;
        self.keys.is_empty() && (self.logins.is_empty() || !may_ask)
    }

    fn fetch(&mut self, logins_max: usize, now: Instant) -> Vec<Question> {
        let mut fetched = std::mem::take(&mut self.keys);
        self.logins.retain(|question| !question.answer.is_closed());
        while self.asked_logins.len() < logins_max {
            let Some((asker, LoginQuestion { number, login, answer })) = self.logins.next(now)
            else {
                break;
            };
            self.asked_logins.insert(number, (asker, answer));
            fetched.push(Question { number, asked: QuestionKind::Login(login) });
        }
        fetched
    }
}

impl Questions {
    /// Asks; `Busy` if too many questions of the kind are open.
    pub fn ask(&self, asked: QuestionKind) -> impl Future<Output = Checked> + Send + use<> {
        let (answer, answered) = oneshot::channel();
        let mut open = lock(&self.open);
        open.next += 1;
        let number = open.next;
        match asked {
            QuestionKind::Keys(issuer) => open.ask_for_keys(number, issuer, answer),
            QuestionKind::Login(login) => open.ask_about(number, login, answer),
        }
        drop(open);
        self.news.notify_all();
        async move { answered.await.map_or(Checked::Busy, Checked::Answered) }
    }

    /// The questions since the last call, as long as fewer than `logins_max` logins are fetched and not answered; waits
    /// for one at most so long.
    pub fn fetch(&self, wait: Duration, logins_max: usize, now: Instant) -> Vec<Question> {
        let open = lock(&self.open);
        let is_idle = |open: &mut OpenQuestions| open.is_idle(logins_max);
        let (mut open, _) = self
            .news
            .wait_timeout_while(open, wait, is_idle)
            .unwrap_or_else(PoisonError::into_inner);
        open.fetch(logins_max, now)
    }

    /// Answers a question; the client may be gone.
    pub fn answer(&self, number: u64, answer: Answer, now: Instant) {
        let mut open = lock(&self.open);
        let asker = open.key_askers.remove(&number).or_else(|| {
            let (asker, answered) = open.asked_logins.remove(&number)?;
            if answer == Answer::Denied {
                open.logins.note_wrong(&asker, now);
            }
            Some(answered)
        });
        drop(open);
        self.news.notify_all(); // another login may be asked about
        if let Some(asker) = asker {
            let _ = asker.send(answer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;

    fn keys() -> QuestionKind {
        QuestionKind::Keys("us".into())
    }

    fn login(address: &str, name: &str) -> QuestionKind {
        QuestionKind::Login(Login {
            client_id: String::new(),
            user_name: Some(name.into()),
            password: Password::from(&b"x"[..]),
            address: address.into(),
            listener: 0,
        })
    }

    fn fetch(questions: &Questions) -> Vec<Question> {
        questions.fetch(Duration::ZERO, 1, Clock::start().now())
    }

    fn answer(questions: &Questions, number: u64, answer: Answer) {
        questions.answer(number, answer, Clock::start().now());
    }

    fn name_of(fetched: &[Question]) -> &str {
        match fetched {
            [Question { asked: QuestionKind::Login(login), .. }] => {
                login.user_name.as_deref().unwrap_or_default()
            }
            other => panic!("{other:?}"),
        }
    }

    #[tokio::test]
    async fn a_question_is_fetched_once_and_answered_once() {
        let questions = Questions::default();
        let asked = questions.ask(keys());
        let fetched = fetch(&questions);
        assert_eq!(fetched.len(), 1);
        assert!(fetch(&questions).is_empty());
        answer(&questions, fetched[0].number, Answer::KeysRead);
        answer(&questions, fetched[0].number, Answer::Denied);
        answer(&questions, 99, Answer::Denied);
        assert_eq!(asked.await, Checked::Answered(Answer::KeysRead));
    }

    #[tokio::test]
    async fn each_kind_has_its_bound_and_clients_that_went_do_not_count() {
        let questions = Questions::default();
        let waiting: Vec<_> = (0..KEY_QUESTIONS_MAX).map(|_| questions.ask(keys())).collect();
        assert_eq!(questions.ask(keys()).await, Checked::Busy);
        let _asked = questions.ask(login("192.0.2.1:1", "ben"));
        assert_eq!(fetch(&questions).len(), KEY_QUESTIONS_MAX + 1);
        drop(waiting);
        let again = questions.ask(keys());
        let fetched = fetch(&questions);
        assert_eq!(fetched.len(), 1);
        answer(&questions, fetched[0].number, Answer::KeysRead);
        assert_eq!(again.await, Checked::Answered(Answer::KeysRead));
    }

    #[tokio::test]
    async fn no_more_logins_are_fetched_than_are_asked_about_at_once() {
        let questions = Questions::default();
        let _first = questions.ask(login("192.0.2.1:1", "anna"));
        let _second = questions.ask(login("192.0.2.1:1", "ben"));
        let fetched = fetch(&questions);
        assert_eq!(name_of(&fetched), "ben", "the newest");
        assert!(fetch(&questions).is_empty());
        let _keys = questions.ask(keys());
        assert_eq!(fetch(&questions).len(), 1, "keys are");
        answer(&questions, fetched[0].number, Answer::Denied);
        assert_eq!(name_of(&fetch(&questions)), "anna");
    }

    #[tokio::test]
    async fn a_flood_of_invented_names_delays_and_refuses_only_its_own_address() {
        let questions = Questions::default();
        let wrong = questions.ask(login("192.0.2.9:1", "invented"));
        answer(&questions, fetch(&questions)[0].number, Answer::Denied);
        assert_eq!(wrong.await, Checked::Answered(Answer::Denied));
        let early = questions.ask(login("192.0.2.1:1", "early"));
        let name = |number: usize| format!("invented {number}");
        let mut flood: Vec<_> = (0..LOGIN_QUESTIONS_MAX)
            .map(|number| questions.ask(login("192.0.2.9:2", &name(number))))
            .collect();
        let late = questions.ask(login("192.0.2.2:1", "late"));
        for expected in ["late", "early"] {
            let fetched = fetch(&questions);
            assert_eq!(name_of(&fetched), expected);
            answer(&questions, fetched[0].number, Answer::Unanswered);
        }
        assert_eq!(early.await, Checked::Answered(Answer::Unanswered));
        assert_eq!(late.await, Checked::Answered(Answer::Unanswered));
        for refused in flood.drain(..2) {
            assert_eq!(refused.await, Checked::Busy);
        }
        assert_eq!(name_of(&fetch(&questions)), name(LOGIN_QUESTIONS_MAX - 1));
    }
}
