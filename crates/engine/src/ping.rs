//! `$slipring/ping`: answered at once with the broker's clock, so that a client can compare it with its
//! own. `docs/clocks.md` has both.

use slipring_core::Pushed;
use slipring_wire::Reason;

use crate::asking::ClientRequest;

/// Bytes of a ping that are sent back with the answer.
const ECHO_BYTES_MAX: usize = 64;

/// Answers a ping; `receive_ns` is when it was read.
pub(crate) fn ask(asked: &ClientRequest<'_>, receive_ns: i64, reply: &mut Vec<u8>) -> Reason {
    let echo = asked.message.payload;
    if echo.len() > ECHO_BYTES_MAX {
        return Reason::PayloadFormatInvalid;
    }
    let Some((envelope, terms)) = asked.envelope() else {
        return Reason::ImplementationSpecificError;
    };
    let mut packet = envelope.packet(&answer(receive_ns, asked.broker.clock.now_ns(), echo), terms);
    let mut outgoing = asked.client.outgoing();
    if outgoing.ask(asked.connection.key).is_none() {
        reply.append(&mut packet);
        return Reason::Success;
    }
    // Not behind acknowledgements that wait for the journal: the answer would measure the disk.
    let pushed = outgoing.answer(asked.connection.key, packet);
    drop(outgoing);
    if pushed == Pushed::Wake {
        asked.client.wake();
    }
    Reason::Success
}

/// The times when the ping was read and answered, as i64 nanoseconds since 1970, and the bytes of the ping.
fn answer(receive_ns: i64, send_ns: i64, echo: &[u8]) -> Vec<u8> {
    let mut body = Vec::with_capacity(16 + echo.len());
    body.extend_from_slice(&receive_ns.to_le_bytes());
    body.extend_from_slice(&send_ns.to_le_bytes());
    body.extend_from_slice(echo);
    body
}
