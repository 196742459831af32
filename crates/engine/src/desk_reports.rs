//! What is told and counted about requests to desks.

use slipring_core::Limit;
use slipring_core::access::Right;
use slipring_core::desk::ProblemCode;

use crate::asking::ClientRequest;
use crate::event::{EventKind, Report};

/// Tells the audit of values that were read, of what a client may not do, and of the quota that it has `reached`.
pub(crate) fn tell_use(
    asked: &ClientRequest<'_>,
    name: &str,
    refused: Option<ProblemCode>,
    reached: Option<Limit>,
) {
    let ClientRequest { broker, client, connection, message, .. } = *asked;
    let kind = match refused {
        Some(ProblemCode::NotAllowed) => EventKind::Unauthorized,
        Some(ProblemCode::Quota) => EventKind::QuotaReached,
        None if name == "values" => EventKind::Read,
        _ => return,
    };
    let right = match message.topic.starts_with("$slipring/streams/") {
        true => Right::Stream,
        false if name == "declare" => Right::Declare,
        false => Right::Select,
    };
    let quota = reached.filter(|_| kind == EventKind::QuotaReached).map(Limit::name);
    let topic = quota.unwrap_or(message.topic);
    let told = Report::new(kind, &client.name).topic(topic).by(connection).right(right);
    broker.monitor.tell(&told);
}

/// Counts a declaration that was refused for lack of room: for all, or for one owner. Returns the limit.
pub(crate) fn count_refused(
    asked: &ClientRequest<'_>,
    refused: Option<ProblemCode>,
    [all, one]: [Limit; 2],
) -> Option<Limit> {
    let limit = match refused? {
        ProblemCode::Full => all,
        ProblemCode::Quota => {
            let own = asked.broker.plan.load().limits_for(asked.from.subject()).own;
            let has_quota = one == Limit::OwnerParameters && own.parameters.is_some();
            if has_quota { Limit::QuotaParameters } else { one }
        }
        ProblemCode::Reserved => Limit::ReservePercent,
        _ => return None,
    };
    asked.broker.monitor.reached.count(limit);
    Some(limit)
}
