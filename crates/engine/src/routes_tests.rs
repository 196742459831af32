//! Tests of the routes: what the text of filters takes.

use super::*;
use slipring_core::{Limits, Outgoing, Owner};

const OPTIONS: Options = Options {
    qos: QoS::AtLeastOnce,
    no_local: false,
    retain_as_published: false,
    identifier: 0,
    needs: None,
    serve: 0,
    priority: None,
};

#[test]
fn the_text_of_a_filter_counts_until_its_subscription_ends() {
    let outgoing = Outgoing::new(&Limits::default());
    let owner = Owner::of(None, "unix:here");
    let client =
        Arc::new(Client::new(SessionKey::new(1), "client", None, &owner, Arc::default(), outgoing));
    let mut routes = Routes::default();
    let long = "x".repeat(1_000);
    let filters = [long.clone(), format!("$share/{long}/t"), format!("$slipring/serve/5/{long}")];
    for filter in &filters {
        let before = routes.bytes();
        routes.insert(&client, filter, OPTIONS);
        routes.insert(&client, filter, OPTIONS);
        assert_eq!(routes.bytes() - before, Routes::bytes_of(filter), "counted once");
        assert!(Routes::bytes_of(filter) > 2_000);
    }
    for filter in &filters {
        routes.remove(&client, filter);
        routes.remove(&client, filter);
    }
    assert_eq!((routes.bytes(), routes.filter_bytes), (0, 0));
}
