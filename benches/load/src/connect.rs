//! Many connections: in a burst, idle, or with many subscriptions.

use slipring_wire::QoS;

use crate::Result;
use crate::arguments::{Connect, Idle, SubscribeMany, Target};
use crate::dial::{AT_ONCE, Dialled, dial};
use crate::dialogue::Dialogue;
use crate::percentiles::Percentiles;
use crate::report::Report;
use crate::standard_input;
use crate::topics::other;

/// All at once.
pub fn burst(arguments: &Connect) -> Result<()> {
    let dialled = dial(
        arguments.target.address,
        hellos(&arguments.target, arguments.clients),
        arguments.clients,
    )?;
    report(&dialled).print();
    if arguments.hold {
        standard_input::wait_until_closed();
    }
    Ok(())
}

/// A few at a time, then silence.
pub fn idle(arguments: &Idle) -> Result<()> {
    let hellos = hellos(&arguments.target, arguments.clients);
    let dialled = dial(arguments.target.address, hellos, AT_ONCE)?;
    report(&dialled).print();
    standard_input::wait_until_closed();
    Ok(())
}

/// As many clients as it takes to hold the filters, then silence.
pub fn subscribe_many(arguments: &SubscribeMany) -> Result<()> {
    let per_client = arguments.per_client as usize;
    let clients = arguments.filters.div_ceil(per_client);
    let version = arguments.target.version();
    let dialogues = (0..clients).map(|client| {
        let numbers = client * per_client..arguments.filters.min((client + 1) * per_client);
        let filters: Vec<String> = numbers.map(other).collect();
        Dialogue::new(version, &format!("load-other-{client}")).subscribe(&filters, QoS::AtMostOnce)
    });
    let dialled = dial(arguments.target.address, dialogues, AT_ONCE)?;
    report(&dialled).number("filters", arguments.filters as u64).print();
    standard_input::wait_until_closed();
    Ok(())
}

fn hellos(target: &Target, clients: usize) -> impl ExactSizeIterator<Item = Dialogue> {
    let version = target.version();
    (0..clients).map(move |number| Dialogue::new(version, &format!("load-idle-{number}")))
}

fn report(dialled: &Dialled) -> Report {
    let clients = dialled.streams.len() as u64;
    Report::default()
        .number("clients", clients)
        .seconds("seconds", dialled.elapsed)
        .rate("per_second", clients, dialled.elapsed)
        .percentiles(&Percentiles::of(dialled.waits_ns.clone()))
}
