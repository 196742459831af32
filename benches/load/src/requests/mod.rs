//! Requests and their answers: every request is answered once, by Slipring, plain MQTT 5 or NATS.

pub mod arguments;
mod collect;
mod mqtt;
mod nats;
mod open;
mod pairs;
mod schedule;
pub mod template;
mod traffic;
mod wire;

use std::time::Instant;

use arguments::{RequestProtocol, RequestsArguments};
pub use collect::collect;
use slipring_wire::QoS;
use traffic::RequestTraffic;

use crate::Result;

/// Asks, answers, and reports how many requests ended how, and how soon.
pub fn run(arguments: &RequestsArguments) -> Result<()> {
    let has_acks = arguments.qos != QoS::AtMostOnce;
    if arguments.qos == QoS::ExactlyOnce || has_acks && arguments.by == RequestProtocol::Nats {
        return Err("requests at this quality of service are not measured".into());
    }
    let mut traffic = RequestTraffic::new(pairs::connect(arguments)?, arguments.may_miss);
    let began = Instant::now();
    if arguments.rate > 0 {
        traffic.pace(arguments)?;
    } else {
        traffic.saturate(arguments)?;
    }
    traffic.report(began.elapsed()).print();
    Ok(())
}
