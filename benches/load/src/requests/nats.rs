//! Requests and answers in the text protocol of NATS, each answer to an inbox of its own. Pure.

use super::wire::{AskerWire, RequestEnd, ServiceWire, TakeEnd};
use crate::Result;
use crate::topics::topic;

/// Without replies to what succeeds, as NATS clients set it.
const CONNECT: &str = "CONNECT {\"verbose\":false,\"pedantic\":false,\"tls_required\":false,\"lang\":\"load\",\"version\":\"1\",\"protocol\":1,\"echo\":false}\r\n";
/// The longest line before a payload.
const LINE_BYTES_MAX: usize = 4_096;

/// The bytes that connect a client that subscribes to `subject`; the server answers with PONG.
pub fn hello(subject: &str) -> Vec<u8> {
    format!("{CONNECT}SUB {subject} 1\r\nPING\r\n").into_bytes()
}

/// The subject of a pair.
pub fn subject(number: u64) -> String {
    topic(number).replace('/', ".")
}

/// The subject of all answers to an asker.
pub fn inboxes(number: u64) -> String {
    format!("_INBOX.load{number:06}.*")
}

/// A line of the server, with the payload if it has one.
#[derive(Debug, PartialEq, Eq)]
pub enum NatsLine<'a> {
    Message {
        subject: &'a str,
        reply_to: Option<&'a str>,
        payload: &'a [u8],
    },
    Ping,
    Pong,
    /// INFO and the like.
    Other,
}

/// Calls `each` with every whole line. Returns how many bytes they took.
pub fn each_line<'a>(
    bytes: &'a [u8],
    mut each: impl FnMut(NatsLine<'a>) -> Result<()>,
) -> Result<usize> {
    let mut used = 0;
    while let Some((line, length)) = next_line(&bytes[used..])? {
        each(line)?;
        used += length;
    }
    Ok(used)
}

fn next_line(bytes: &[u8]) -> Result<Option<(NatsLine<'_>, usize)>> {
    let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else {
        return if bytes.len() > LINE_BYTES_MAX { Err("an endless line".into()) } else { Ok(None) };
    };
    let (line, length) = (std::str::from_utf8(&bytes[..end])?.trim_end(), end + 1);
    let mut words = line.split(' ');
    match words.next() {
        Some("MSG") => message(words, bytes, length),
        Some("PING") => Ok(Some((NatsLine::Ping, length))),
        Some("PONG") => Ok(Some((NatsLine::Pong, length))),
        Some("-ERR") => Err(format!("the broker says {line}").into()),
        _ => Ok(Some((NatsLine::Other, length))),
    }
}

/// `MSG subject sid [reply-to] bytes`, then the payload and the end of its line.
fn message<'a>(
    words: std::str::Split<'a, char>,
    bytes: &'a [u8],
    line_bytes: usize,
) -> Result<Option<(NatsLine<'a>, usize)>> {
    let words: Vec<&str> = words.collect();
    let (subject, reply_to, count) = match words[..] {
        [subject, _, count] => (subject, None, count),
        [subject, _, reply_to, count] => (subject, Some(reply_to), count),
        _ => return Err(format!("not a message: {words:?}").into()),
    };
    let end = line_bytes + count.parse::<usize>()?;
    let Some(payload) = bytes.get(line_bytes..end).filter(|_| bytes.len() >= end + 2) else {
        return Ok(None);
    };
    Ok(Some((NatsLine::Message { subject, reply_to, payload }, end + 2)))
}

fn publish(subject: &str, reply_to: &str, payload: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(b"PUB ");
    out.extend_from_slice(subject.as_bytes());
    if !reply_to.is_empty() {
        out.push(b' ');
        out.extend_from_slice(reply_to.as_bytes());
    }
    out.push(b' ');
    out.extend_from_slice(payload.len().to_string().as_bytes());
    out.extend_from_slice(b"\r\n");
    out.extend_from_slice(payload);
    out.extend_from_slice(b"\r\n");
}

/// An asker.
pub struct NatsAsker {
    subject: String,
    /// All but the number, which is the last word.
    inbox: String,
    payload: Vec<u8>,
}

impl NatsAsker {
    pub fn new(number: u64, payload_bytes: usize) -> Self {
        let inbox = inboxes(number).trim_end_matches('*').into();
        Self { subject: subject(number), inbox, payload: vec![b'x'; payload_bytes] }
    }
}

impl AskerWire for NatsAsker {
    fn ask(&mut self, number: u64, out: &mut Vec<u8>) {
        self.payload[..8].copy_from_slice(&number.to_be_bytes());
        let inbox = format!("{}{number:08x}", self.inbox);
        publish(&self.subject, &inbox, &self.payload, out);
    }

    fn receive(&mut self, bytes: &[u8], out: &mut Vec<u8>, end: TakeEnd<'_>) -> Result<usize> {
        each_line(bytes, |line| match line {
            NatsLine::Message { subject, payload, .. } => {
                if payload.len() != self.payload.len() {
                    return Err(format!("an answer of {} bytes", payload.len()).into());
                }
                let number = subject.rsplit('.').next().unwrap_or_default();
                end(u64::from_str_radix(number, 16)?, &RequestEnd::Answered)
            }
            other => answer_ping(&other, out),
        })
    }

    fn unacked(&self) -> u64 {
        0
    }
}

/// A service.
pub struct NatsService;

impl ServiceWire for NatsService {
    fn receive(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<usize> {
        each_line(bytes, |line| match line {
            NatsLine::Message { reply_to, payload, .. } => {
                publish(reply_to.ok_or("a request without an inbox")?, "", payload, out);
                Ok(())
            }
            other => answer_ping(&other, out),
        })
    }
}

#[allow(clippy::unnecessary_wraps, reason = "an arm beside others that can fail")]
fn answer_ping(line: &NatsLine<'_>, out: &mut Vec<u8>) -> Result<()> {
    if *line == NatsLine::Ping {
        out.extend_from_slice(b"PONG\r\n");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_taken_only_when_they_are_whole() {
        let bytes = b"INFO {}\r\nMSG a.b 1 in.7 3\r\nx\ny\r\nMSG a 1 0\r\n\r\nPING\r\n";
        for cut in 0..=bytes.len() {
            let (mut found, mut rest) = (Vec::new(), Vec::new());
            for part in [&bytes[..cut], &bytes[cut..]] {
                rest.extend_from_slice(part);
                let used = each_line(&rest, |line| {
                    found.push(format!("{line:?}"));
                    Ok(())
                });
                let used = used.unwrap();
                rest.drain(..used);
            }
            let first =
                NatsLine::Message { subject: "a.b", reply_to: Some("in.7"), payload: b"x\ny" };
            let second = NatsLine::Message { subject: "a", reply_to: None, payload: b"" };
            let lines = [NatsLine::Other, first, second, NatsLine::Ping];
            assert_eq!(found, lines.map(|line| format!("{line:?}")), "cut at {cut}");
            assert!(rest.is_empty());
        }
    }

    #[test]
    fn a_service_answers_to_the_inbox_of_the_request() {
        let (mut asker, mut sent, mut answer) = (NatsAsker::new(2, 9), Vec::new(), Vec::new());
        asker.ask(500, &mut sent);
        assert!(
            sent.starts_with(
                b"PUB bench.gripen.000002.engine.rpm _INBOX.load000002.000001f4 9\r\n"
            )
        );
        let request =
            b"MSG bench.gripen.000002.engine.rpm 1 _INBOX.load000002.000001f4 9\r\n012345678\r\n";
        NatsService.receive(request, &mut answer).unwrap();
        assert_eq!(answer, b"PUB _INBOX.load000002.000001f4 9\r\n012345678\r\n");
        let mut numbers = Vec::new();
        let delivered = b"MSG _INBOX.load000002.000001f4 1 9\r\n012345678\r\n";
        asker
            .receive(delivered, &mut answer, &mut |number, _| {
                numbers.push(number);
                Ok(())
            })
            .unwrap();
        assert_eq!(numbers, [500]);
    }

    #[test]
    fn an_error_of_the_server_ends_the_run() {
        assert!(each_line(b"-ERR 'Unknown Protocol Operation'\r\n", |_| Ok(())).is_err());
    }
}
