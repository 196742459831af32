//! What an asker and a service send and receive, whatever the broker's protocol. Pure.

use crate::Result;

/// What an asker learns about a request.
pub enum RequestEnd<'a> {
    Answered,
    /// It ended without an answer; the broker's word for it.
    Failed(&'a str),
}

/// Takes the number of a request that has ended.
pub type TakeEnd<'a> = &'a mut dyn FnMut(u64, &RequestEnd<'_>) -> Result<()>;

/// One asker.
pub trait AskerWire {
    /// Appends the request with this number.
    fn ask(&mut self, number: u64, out: &mut Vec<u8>);

    /// Takes what was received, and appends what the broker expects. Returns how many bytes it used.
    fn receive(&mut self, bytes: &[u8], out: &mut Vec<u8>, end: TakeEnd<'_>) -> Result<usize>;

    /// Requests that the broker has not acknowledged.
    fn unacked(&self) -> u64;
}

/// One service: it answers each request with the request's own payload.
pub trait ServiceWire {
    /// Takes what was received, and appends the answers. Returns how many bytes it used.
    fn receive(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<usize>;
}
