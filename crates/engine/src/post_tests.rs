//! A publisher and the gates that its deliveries wait for.

use super::*;
use crate::origin::Origin;
use slipring_core::Plan;
use slipring_journal::{Options, Progress};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Wake, Waker};

#[derive(Default)]
struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn a_publisher_is_woken_for_what_waits_for_a_gate_that_none_of_its_answers_has() {
    let (broker, _) = Broker::open(Plan::default(), None, Options::default()).unwrap();
    let origin = Origin { address: "here".into(), listener: 0, user: None };
    let (link, count) = (Arc::new(Link::new(1, origin, 0)), Arc::new(Count::default()));
    link.waker.register(&Waker::from(Arc::clone(&count)));
    let mut post = Post::default();
    post.send_after(&broker, Gate { level: Durability::Disk, mark: 10 }, Vec::new());
    post.release_for(&broker, &link);
    post.release_for(&broker, &link);
    assert_eq!(count.0.load(Ordering::Relaxed), 0);
    broker.gates.progress(&Progress { written: 10, synced: 10, ..Progress::default() });
    assert_eq!(count.0.load(Ordering::Relaxed), 1);
    post.release_for(&broker, &link);
    assert!(post.later.is_empty());
}
