//! The client's opening handshake: one HTTP request, one response (RFC 6455 4.1).

use std::io::{Error, ErrorKind, Result};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use crate::key::{SUBPROTOCOL, new_key, proof};
use crate::stream::WebSocket;

/// The most bytes of a response's head.
const ANSWER_MAX: usize = 8 << 10;
/// The most headers of a response.
const HEADERS_MAX: usize = 64;
/// The most bytes of a message: twice MQTT's largest packet.
const MESSAGE_BYTES_MAX: u64 = 1 << 29;
/// Bytes of a refusal's body that the error repeats.
const WORDS_MAX: usize = 200;

/// Opens a WebSocket on a connected stream. `host` is written as in a URL.
pub async fn open<S>(mut stream: S, host: &str, path: &str) -> Result<WebSocket<S>>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let key = new_key();
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\
         Sec-WebSocket-Protocol: {SUBPROTOCOL}\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await?;
    stream.flush().await?;
    let mut answer = Vec::new();
    let length = read_head(&mut stream, &mut answer).await?;
    let early = answer.split_off(length);
    check(&answer, &early, &key)
        .map_err(|why| Error::new(ErrorKind::InvalidData, format!("no WebSocket there: {why}")))?;
    Ok(WebSocket::client(stream, early, MESSAGE_BYTES_MAX))
}

/// Reads up to the empty line that ends the head. Returns the length of the head.
async fn read_head<S: AsyncRead + Unpin>(stream: &mut S, answer: &mut Vec<u8>) -> Result<usize> {
    loop {
        let unseen = answer.len().saturating_sub(3);
        if stream.read_buf(answer).await? == 0 {
            let why = "no WebSocket there: closed before its answer";
            return Err(Error::new(ErrorKind::UnexpectedEof, why));
        }
        let end = answer[unseen..].windows(4).position(|four| four == b"\r\n\r\n");
        match end.map(|end| unseen + end + 4) {
            Some(length) if length <= ANSWER_MAX => return Ok(length),
            None if answer.len() < ANSWER_MAX && is_http(answer) => {}
            _ => {
                let why = "no WebSocket there: the answer is not HTTP, or a long one";
                return Err(Error::new(ErrorKind::InvalidData, why));
            }
        }
    }
}

/// Whether the bytes so far can be the start of an HTTP response.
fn is_http(answer: &[u8]) -> bool {
    let start = answer.len().min(5);
    answer[..start] == b"HTTP/"[..start]
}

/// Whether a response accepts the request with this key, and nothing else.
fn check(answer: &[u8], early: &[u8], key: &str) -> std::result::Result<(), String> {
    let mut fields = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut parsed = httparse::Response::new(&mut fields);
    parsed.parse(answer).map_err(|error| format!("the answer is not HTTP ({error})"))?;
    if parsed.code != Some(101) {
        let code = parsed.code.unwrap_or_default();
        let words = String::from_utf8_lossy(&early[..early.len().min(WORDS_MAX)]);
        let words: String = words.chars().filter(|letter| !letter.is_control()).collect();
        return Err(format!("the answer is {code} {} {words}", parsed.reason.unwrap_or_default()));
    }
    let one = |name: &str| {
        let found = parsed.headers.iter().find(|header| header.name.eq_ignore_ascii_case(name));
        found.and_then(|header| std::str::from_utf8(header.value).ok()).map(str::trim)
    };
    let is = |name: &str, text: &str| one(name).is_some_and(|it| it.eq_ignore_ascii_case(text));
    if !is("upgrade", "websocket") || !is("connection", "upgrade") {
        return Err("the answer upgrades to something else".to_owned());
    }
    if one("sec-websocket-accept") != Some(&*proof(key)) {
        return Err("the answer does not prove that the request was understood".to_owned());
    }
    if one("sec-websocket-protocol") != Some(SUBPROTOCOL) {
        return Err("it does not accept MQTT as the subprotocol".to_owned());
    }
    if one("sec-websocket-extensions").is_some() {
        return Err("it uses an extension that was not asked for".to_owned());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "dGhlIHNhbXBsZSBub25jZQ==";
    const GOOD: &str = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\
        Connection: Upgrade\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\
        Sec-WebSocket-Protocol: mqtt\r\n\r\n";

    #[test]
    fn an_answer_that_agrees_to_anything_else_is_refused() {
        assert_eq!(check(GOOD.as_bytes(), b"", KEY), Ok(()));
        let rows = [
            ("101 Switching", "403 Forbidden\r\nX: Switching", "403 Forbidden a page of evil"),
            ("Upgrade: websocket\r\n", "", "something else"),
            ("websocket\r\n", "h2c\r\n", "something else"),
            ("s3pPLMBi", "AAAAAAAA", "does not prove"),
            ("Protocol: mqtt", "Protocol: mqttv3.1", "MQTT"),
            ("Connection", "Sec-WebSocket-Extensions: permessage-deflate\r\nConnection", "extens"),
            ("HTTP/1.1", "SSH-2.0", "not HTTP"),
        ];
        for (part, instead, words) in rows {
            let answer = GOOD.replace(part, instead);
            let why = check(answer.as_bytes(), b"a page of evil\r\n", KEY).unwrap_err();
            assert!(why.contains(words), "{instead}: {why}");
        }
    }

    #[test]
    fn an_answer_that_is_not_http_or_never_ends_is_refused() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let endless = format!("HTTP/1.1 101 X\r\nX: {}", "x".repeat(ANSWER_MAX));
        for (answer, words) in
            [("SSH-2.0-OpenSSH\r\n", "not HTTP"), (&endless, "long one"), ("HTTP/1.1 1", "closed")]
        {
            let error = runtime.block_on(async {
                let (mut theirs, ours) = tokio::io::duplex(1 << 16);
                theirs.write_all(answer.as_bytes()).await.unwrap();
                theirs.shutdown().await.unwrap();
                open(ours, "broker:9001", "/mqtt").await.unwrap_err()
            });
            assert!(error.to_string().contains(words), "{error}");
        }
    }
}
