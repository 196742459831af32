//! Many connections: in a burst, idle, or with many subscriptions.

use slipring_wire::QoS;

use crate::Result;
use crate::arguments::{ConnectArguments, IdleArguments, SubscribeManyArguments, TargetArguments};
use crate::dial::{AT_ONCE, DialledClients, dial};
use crate::handshake::Handshake;
use crate::percentiles::Percentiles;
use crate::run_report::RunReport;
use crate::standard_input;
use crate::topics::other;

/// Connects all clients at once.
pub fn burst(arguments: &ConnectArguments) -> Result<()> {
    let dialled = dial(
        arguments.target.address,
        handshakes(&arguments.target, arguments.clients),
        arguments.clients,
    )?;
    report(&dialled).print();
    if arguments.hold {
        standard_input::wait_until_closed();
    }
    Ok(())
}

/// Connects clients a few at a time, then stays idle.
pub fn idle(arguments: &IdleArguments) -> Result<()> {
    let handshakes = handshakes(&arguments.target, arguments.clients);
    let dialled = dial(arguments.target.address, handshakes, AT_ONCE)?;
    report(&dialled).print();
    standard_input::wait_until_closed();
    Ok(())
}

/// Connects as many clients as the filters need, then stays idle.
pub fn subscribe_many(arguments: &SubscribeManyArguments) -> Result<()> {
    let per_client = arguments.per_client as usize;
    let clients = arguments.filters.div_ceil(per_client);
    let version = arguments.target.version();
    let handshakes = (0..clients).map(|client| {
        let numbers = client * per_client..arguments.filters.min((client + 1) * per_client);
        let filters: Vec<String> = numbers.map(other).collect();
        Handshake::new(version, &format!("load-other-{client}"))
            .subscribe(&filters, QoS::AtMostOnce)
    });
    let dialled = dial(arguments.target.address, handshakes, AT_ONCE)?;
    report(&dialled).number("filters", arguments.filters as u64).print();
    standard_input::wait_until_closed();
    Ok(())
}

fn handshakes(
    target: &TargetArguments,
    clients: usize,
) -> impl ExactSizeIterator<Item = Handshake> {
    let version = target.version();
    (0..clients).map(move |number| Handshake::new(version, &format!("load-idle-{number}")))
}

fn report(dialled: &DialledClients) -> RunReport {
    let clients = dialled.streams.len() as u64;
    RunReport::default()
        .number("clients", clients)
        .seconds("seconds", dialled.elapsed)
        .rate("per_second", clients, dialled.elapsed)
        .percentiles(&Percentiles::of(dialled.waits_ns.clone()))
}
