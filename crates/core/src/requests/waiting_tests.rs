//! Requests that wait: what is left of them, and which one a service gets next.

use std::sync::Arc;

use slipring_wire::QoS;

use super::book_tests::{Peer, look_all, request};
use super::*;
use crate::Priority;

/// A book with services that serve all topics, and get what they serve at once.
struct Desk {
    book: RequestBook<Peer>,
    asker: Arc<Peer>,
    /// Each with the requests that it computes at once, and whether it has No Local.
    services: Vec<(Arc<Peer>, u16, bool)>,
    generation: u64,
    asked: u64,
}

fn candidate((client, serve, no_local): &(Arc<Peer>, u16, bool)) -> ServiceCandidate<Peer> {
    ServiceCandidate {
        client: Arc::clone(client),
        qos: QoS::AtLeastOnce,
        identifiers: None,
        serve: *serve,
        no_local: *no_local,
        by_topic: false,
    }
}

impl Desk {
    fn new() -> Self {
        let (book, asker) = (RequestBook::default(), Peer::new(1));
        Self { book, asker, services: Vec::new(), generation: 1, asked: 0 }
    }

    fn with<T>(
        &mut self,
        work: impl FnOnce(&mut RequestBook<Peer>, &Surroundings<'_, Peer>) -> T,
    ) -> T {
        let (now_ns, generation) = (i64::try_from(self.asked).unwrap(), self.generation);
        let find = |_: &str| self.services.iter().map(candidate).collect();
        work(&mut self.book, &Surroundings { now_ms: 1, now_ns, generation, find: &find })
    }

    /// A service of all topics that computes `serve` requests at once.
    fn serve(&mut self, client: &Arc<Peer>, serve: u16, no_local: bool) -> Vec<Handing<Peer>> {
        self.services.push((Arc::clone(client), serve, no_local));
        self.generation += 1;
        self.book.look_at_filter("#");
        self.with(look_all).handings
    }

    fn ask_as(
        &mut self,
        asker: &Arc<Peer>,
        topic: &str,
        priority: Priority,
    ) -> (RequestKey, Asked<Peer>) {
        self.asked += 1;
        let mut new = request(self.asked, asker, topic, 1, true);
        new.priority = priority;
        let key = new.key;
        (key, self.with(|book, around| book.ask(new, around)))
    }

    fn ask(&mut self, topic: &str) -> (RequestKey, Asked<Peer>) {
        let asker = Arc::clone(&self.asker);
        self.ask_as(&asker, topic, Priority::Normal)
    }

    fn end(&mut self, key: RequestKey, event: RequestEvent) -> Vec<Handing<Peer>> {
        assert!(self.book.announce(key, event, None).is_some());
        self.with(|book, around| book.finish(key, around))
    }

    fn stored_topics(&self) -> usize {
        self.book.stored_topics.len()
    }
}

#[test]
fn nothing_is_left_of_topics_whose_requests_were_never_served() {
    let mut desk = Desk::new();
    for number in 0..20_000 {
        let (key, asked) = desk.ask(&format!("t/{number}"));
        assert!(matches!(asked, Asked::Stored));
        desk.end(key, RequestEvent::TimeOut);
    }
    assert_eq!((desk.book.pools.len(), desk.stored_topics()), (0, 0));
}

#[test]
fn little_is_left_of_topics_whose_requests_waited_and_were_served_or_not() {
    let mut desk = Desk::new();
    let service = Peer::new(2);
    desk.serve(&service, 1, false);
    let (mut held, _) = desk.ask("first");
    for number in 0..10_000 {
        let (unserved, _) = desk.ask(&format!("t/{number}"));
        let (next, _) = desk.ask(&format!("t/{number}"));
        desk.end(unserved, RequestEvent::Cancel);
        assert_eq!(desk.end(held, RequestEvent::Answer)[0].key, next);
        held = next;
    }
    assert!(desk.book.pools.len() <= 4_097, "{}", desk.book.pools.len());
    assert_eq!(desk.stored_topics(), 0);
}

#[test]
fn a_request_whose_end_was_undone_waits_again() {
    let mut desk = Desk::new();
    let (service, mut keys) = (Peer::new(2), Vec::new());
    for _ in 0..3 {
        keys.push(desk.ask("a").0);
    }
    assert!(desk.book.announce(keys[0], RequestEvent::Cancel, None).is_some());
    for key in &keys[1..] {
        desk.end(*key, RequestEvent::Cancel); // the pool forgets those that are over
    }
    desk.book.undo(keys[0]);
    let handings = desk.serve(&service, 1, false);
    assert_eq!(handings.iter().map(|one| one.key).collect::<Vec<_>>(), [keys[0]]);
}

#[test]
fn a_free_service_finds_a_request_behind_topics_that_another_one_has_served() {
    let mut desk = Desk::new();
    let (first, second) = (Peer::new(2), Peer::new(3));
    desk.serve(&first, 1, false);
    let (held, _) = desk.ask("busy");
    desk.serve(&second, 1, false);
    let (mut other, _) = desk.ask("busy");
    let keys: Vec<_> = (0..40).map(|number| desk.ask(&format!("t/{number}")).0).collect();
    for _ in &keys {
        other = desk.end(other, RequestEvent::Answer)[0].key;
    }
    let (waiting, asked) = desk.ask("another");
    assert!(matches!(asked, Asked::Stored));
    let handings = desk.end(held, RequestEvent::Answer);
    assert_eq!(handings.iter().map(|one| one.key).collect::<Vec<_>>(), [waiting]);
}

#[test]
fn the_backlog_of_a_busy_service_does_not_grow_for_ever() {
    let mut desk = Desk::new();
    desk.serve(&Peer::new(2), 1, false);
    desk.ask("busy");
    for number in 0..50_000 {
        let (key, _) = desk.ask(&format!("t/{number}"));
        desk.end(key, RequestEvent::Cancel);
    }
    let place = desk.book.services.place(desk.services[0].0.session()).unwrap();
    let backlog = desk.book.services.at(place).unwrap().backlog.len();
    assert!(backlog < 20_000, "{backlog}");
}

#[test]
fn a_service_with_no_local_never_gets_its_own_request_and_others_do_not_wait_behind_it() {
    let mut desk = Desk::new();
    let both = Peer::new(2);
    let (own, _) = desk.ask_as(&both, "a", Priority::Normal);
    let (first, _) = desk.ask("a");
    let (second, _) = desk.ask("a");
    let keys =
        |handings: Vec<Handing<Peer>>| handings.iter().map(|one| one.key).collect::<Vec<_>>();
    let handed = desk.serve(&both, 1, true);
    assert_eq!(keys(handed), [first]);
    let handed = desk.end(first, RequestEvent::Answer);
    assert_eq!(keys(handed), [second]);
    let handed = desk.end(second, RequestEvent::Answer);
    assert_eq!(keys(handed), []);
    let (third, asked) = desk.ask("a");
    assert!(matches!(asked, Asked::Handed(_)));
    let (fourth, _) = desk.ask("a");
    let handed = desk.end(third, RequestEvent::Answer);
    assert_eq!(keys(handed), [fourth]);
    let handed = desk.serve(&Peer::new(3), 1, true);
    assert_eq!(keys(handed), [own], "another one serves it");
}

#[test]
fn a_service_that_is_still_there_gets_the_next_request_for_one_that_it_gave_back() {
    let mut moved = 0;
    for first in 0..5 {
        let mut desk = Desk { asked: first, ..Desk::new() }; // each with another strategy
        let (one, other) = (Peer::new(2), Peer::new(3));
        desk.serve(&one, 1, false);
        let (given, _) = desk.ask("a");
        desk.serve(&other, 1, true);
        let (waiting, asked) = desk.ask_as(&other, "a", Priority::Normal);
        assert!(matches!(asked, Asked::Stored));
        let back = desk.with(|book, around| book.give_back(given, around));
        let GivenBack::Again(Asked::Handed(handing), next) = back else { panic!("{back:?}") };
        if handing.client.session() == other.session() {
            assert_eq!(next.iter().map(|one| one.key).collect::<Vec<_>>(), [waiting]);
            moved += 1;
        }
    }
    assert!(moved > 0);
}

/// Takes `count` requests one after the other, with a new one on the same topic for each that is taken. Returns how
/// many of each priority were taken.
fn take_turns(topics: [&str; 3], count: usize) -> [usize; 3] {
    let (mut desk, mut taken) = (Desk::new(), [0; 3]);
    let asker = Arc::clone(&desk.asker);
    desk.serve(&Peer::new(2), 1, false);
    let (mut held, _) = desk.ask("first");
    let levels = [Priority::Low, Priority::Normal, Priority::High];
    for (topic, level) in topics.into_iter().zip(levels) {
        desk.ask_as(&asker, topic, level);
    }
    for _ in 0..count {
        let handing = desk.end(held, RequestEvent::Answer).remove(0);
        held = handing.key;
        taken[handing.priority as usize] += 1;
        desk.ask_as(&asker, topics[handing.priority as usize], handing.priority);
    }
    taken
}

#[test]
fn no_priority_waits_for_ever_on_one_topic_or_on_several() {
    assert_eq!(take_turns(["a", "a", "a"], 320), [10, 10, 300]);
    assert_eq!(take_turns(["a", "b", "c"], 320), [10, 10, 300]);
}

#[test]
fn a_look_for_empty_correlation_data_passes_requests_without_any() {
    let mut desk = Desk::new();
    let asker = Arc::clone(&desk.asker);
    for (key, correlation) in [(1, None), (2, Some([].into())), (3, None)] {
        let new = NewRequest { correlation, ..request(key, &asker, "a", 0, true) };
        desk.with(|book, around| book.ask(new, around));
    }
    let found: Vec<_> = desk.book.asked_with(asker.session(), b"").collect();
    assert_eq!(found, [RequestKey::new(2)]);
    let (none, empty) = (super::book::hash(None), super::book::hash(Some(b"")));
    assert_ne!(none, empty);
    assert_eq!(desk.book.asker_gone(asker.session()), [1, 2, 3].map(RequestKey::new));
}

#[test]
fn a_look_at_many_topics_is_made_of_short_ones() {
    let mut desk = Desk::new();
    for number in 0..1_000 {
        desk.ask(&format!("t/{number:04}"));
    }
    desk.services.push((Peer::new(2), 5_000, false));
    desk.generation += 1;
    desk.book.look_at_filter("t/+");
    let mut handed = Vec::new();
    while desk.book.has_looks() {
        let looked = desk.with(RequestBook::look);
        assert!(looked.handings.len() <= 64, "{}", looked.handings.len());
        handed.extend(looked.handings);
    }
    assert_eq!((handed.len(), desk.stored_topics()), (1_000, 0));
}

#[test]
fn a_look_hands_out_some_requests_of_a_topic_and_goes_on_later() {
    let mut desk = Desk::new();
    for _ in 0..1_000 {
        desk.ask("t");
    }
    desk.services.push((Peer::new(2), 600, false));
    desk.generation += 1;
    desk.book.look_at_filter("t");
    let mut each = Vec::new();
    while desk.book.has_looks() {
        each.push(desk.with(RequestBook::look).handings.len());
    }
    assert_eq!(each, [256, 256, 88]);
}

#[test]
fn very_many_looks_become_one_at_all_topics() {
    let mut desk = Desk::new();
    (0..10).for_each(|number| drop(desk.ask(&format!("$own/{number}"))));
    desk.services.push((Peer::new(2), 100, false));
    desk.generation += 1;
    (0..10_000).for_each(|number| desk.book.look_at_filter(&format!("f/{number}")));
    let mut looks = 0;
    let mut handed = 0;
    while desk.book.has_looks() {
        handed += desk.with(RequestBook::look).handings.len();
        looks += 1;
    }
    assert_eq!((looks, handed), (1, 10), "also on topics that no wildcard matches");
}

#[test]
fn a_new_request_does_not_overtake_those_that_a_service_that_has_come_will_get() {
    let mut desk = Desk::new();
    let before: Vec<RequestKey> = (0..3).map(|_| desk.ask("t").0).collect();
    desk.services.push((Peer::new(2), 10, false));
    desk.generation += 1;
    desk.book.look_at_filter("t");
    let (last, asked) = desk.ask("t");
    assert!(matches!(asked, Asked::Stored));
    let handed: Vec<_> = desk.with(look_all).handings.iter().map(|one| one.key).collect();
    assert_eq!(handed, [before, vec![last]].concat());
}

#[test]
fn requests_that_do_not_wait_end_when_the_last_service_has_gone() {
    let mut desk = Desk::new();
    let service = Peer::new(2);
    desk.serve(&service, 1, false);
    desk.ask("busy");
    let asker = Arc::clone(&desk.asker);
    for key in 100..300 {
        let new = request(key, &asker, &format!("t/{key}"), 0, key % 2 == 0);
        assert!(matches!(desk.with(|book, around| book.ask(new, around)), Asked::Stored));
    }
    desk.services.clear();
    desk.generation += 1;
    assert_eq!(desk.book.service_gone(service.session()).len(), 1);
    let mut unserved = desk.with(look_all).unserved;
    unserved.sort_unstable();
    let impatient = (100..300).filter(|key| key % 2 == 1).map(RequestKey::new);
    assert!(unserved.into_iter().eq(impatient));
}

#[test]
fn a_request_at_qos_0_is_lost_with_the_connection_that_it_went_out_on_and_no_other() {
    let mut desk = Desk::new();
    let service = Peer::new(2);
    desk.serve(&service, 10, false);
    let (earlier, _) = desk.ask("t");
    service.reconnect();
    let (later, _) = desk.ask("t");
    assert_eq!(desk.book.service_left(service.session()), [earlier]);
    service.be_here(false);
    assert_eq!(desk.book.service_left(service.session()), [earlier, later]);
}

#[test]
fn requests_behind_others_leave_a_bounded_number_of_looks_and_all_are_handed_out() {
    let mut desk = Desk::new();
    desk.ask("a");
    desk.ask("b");
    desk.services.push((Peer::new(2), 5_000, false));
    desk.generation += 1;
    for number in 0..2_000 {
        assert!(matches!(desk.ask(["a", "b"][number % 2]).1, Asked::Stored));
    }
    let (mut looks, mut handed) = (0, 0);
    while desk.book.has_looks() {
        handed += desk.with(RequestBook::look).handings.len();
        looks += 1;
    }
    assert!(handed == 2_002 && looks < 300, "{handed} by {looks} looks");
}
