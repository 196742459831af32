//! The opening of a WebSocket: one HTTP request, one answer (RFC 6455 4.2).

use std::io::{Error, ErrorKind, Result};

use data_encoding::BASE64;
use slipring_websocket::{SUBPROTOCOL, WebSocket, proof};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use super::origin::Origins;

/// Bytes of a request with its headers.
const REQUEST_MAX: usize = 8 << 10;
/// Bytes by which the buffer grows.
const REQUEST_STEP: usize = 1 << 10;
/// Headers of a request.
const HEADERS_MAX: usize = 64;
/// Bytes that a refused client may still send, so that it can read the reason.
const LINGER_BYTES_MAX: u64 = 64 << 10;

/// Why a request gets no WebSocket.
#[derive(Debug, PartialEq, Eq)]
struct Refusal {
    status: &'static str,
    why: String,
}

fn refusal(status: &'static str, why: impl Into<String>) -> Refusal {
    Refusal { status, why: why.into() }
}

fn bad(why: impl Into<String>) -> Refusal {
    refusal("400 Bad Request", why)
}

/// Reads the request and answers it. No extension is ever agreed on (CVE-2026-67232).
pub(crate) async fn accept<S>(
    mut stream: S,
    origins: &Origins,
    message_bytes_max: u64,
) -> Result<WebSocket<S>>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let mut request = Vec::with_capacity(REQUEST_STEP);
    let answer = match read_request(&mut stream, &mut request).await? {
        Ok(length) => {
            let early = request.split_off(length);
            answer(&request, origins).map(|answer| (answer, early))
        }
        Err(refused) => Err(refused),
    };
    match answer {
        Ok((answer, early)) => {
            stream.write_all(answer.as_bytes()).await?;
            stream.flush().await?;
            Ok(WebSocket::server(stream, early, message_bytes_max))
        }
        Err(refused) => Err(refuse(stream, refused).await),
    }
}

/// Reads up to the empty line. Returns where the request ends.
async fn read_request<S: AsyncRead + Unpin>(
    stream: &mut S,
    request: &mut Vec<u8>,
) -> Result<std::result::Result<usize, Refusal>> {
    loop {
        let before = request.len();
        request.reserve(REQUEST_STEP);
        if stream.read_buf(request).await? == 0 {
            return Err(Error::new(ErrorKind::UnexpectedEof, "closed before its request"));
        }
        // A client that speaks another protocol is refused now, not after a timeout.
        let start = request.len().min(4);
        if request[..start] != b"GET "[..start] {
            return Ok(Err(bad("a WebSocket begins with an HTTP GET")));
        }
        let unseen = before.saturating_sub(3);
        let end = request[unseen..].windows(4).position(|four| four == b"\r\n\r\n");
        match end.map(|end| unseen + end + 4) {
            Some(length) if length <= REQUEST_MAX => return Ok(Ok(length)),
            None if request.len() < REQUEST_MAX => {}
            _ => {
                let why = format!("a request of more than {REQUEST_MAX} bytes");
                return Ok(Err(refusal("431 Request Header Fields Too Large", why)));
            }
        }
    }
}

/// The answer to a whole request.
fn answer(request: &[u8], origins: &Origins) -> std::result::Result<String, Refusal> {
    let mut fields = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut parsed = httparse::Request::new(&mut fields);
    parsed.parse(request).map_err(|error| bad(format!("no HTTP request: {error}")))?;
    if parsed.version != Some(1) {
        return Err(bad("a WebSocket needs HTTP/1.1"));
    }
    let headers = Headers(parsed.headers);
    if !headers.lists("upgrade", |token| token.eq_ignore_ascii_case("websocket"))?
        || !headers.lists("connection", |token| token.eq_ignore_ascii_case("upgrade"))?
    {
        return Err(refusal("426 Upgrade Required", "a request that asks for no WebSocket"));
    }
    if headers.one("sec-websocket-version")? != Some("13") {
        return Err(refusal("426 Upgrade Required", "a WebSocket of another version than 13"));
    }
    let host = headers.one("host")?.unwrap_or_default();
    if let Some(origin) = headers.one("origin")? {
        if !origins.admit(origin, host) {
            let why = format!("a page of {}", origin.escape_debug());
            return Err(refusal("403 Forbidden", why));
        }
    }
    if !headers.lists("sec-websocket-protocol", |token| token == SUBPROTOCOL)? {
        return Err(bad("a client that does not offer the subprotocol 'mqtt'"));
    }
    let key = headers.one("sec-websocket-key")?.unwrap_or_default();
    if BASE64.decode(key.as_bytes()).map_or(0, |key| key.len()) != 16 {
        return Err(bad("a Sec-WebSocket-Key that is not 16 bytes in base 64"));
    }
    Ok(format!(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Accept: {}\r\nSec-WebSocket-Protocol: {SUBPROTOCOL}\r\n\r\n",
        proof(key)
    ))
}

/// The headers of a request.
struct Headers<'a>(&'a [httparse::Header<'a>]);

impl<'a> Headers<'a> {
    fn all(&self, name: &str) -> impl Iterator<Item = std::result::Result<&'a str, Refusal>> {
        let found = self.0.iter().filter(move |header| header.name.eq_ignore_ascii_case(name));
        found.map(|header| {
            let text = std::str::from_utf8(header.value).map(str::trim);
            text.map_err(|_| bad("a header that is not text"))
        })
    }

    /// The value of a header that may occur only once: two could contradict each other.
    fn one(&self, name: &str) -> std::result::Result<Option<&'a str>, Refusal> {
        let mut found = self.all(name);
        let first = found.next().transpose()?;
        match found.next() {
            None => Ok(first),
            Some(_) => Err(bad(format!("two headers {name}"))),
        }
    }

    /// Whether a list has an item.
    fn lists(
        &self,
        name: &str,
        is_it: impl Fn(&str) -> bool,
    ) -> std::result::Result<bool, Refusal> {
        for value in self.all(name) {
            if value?.split(',').any(|token| is_it(token.trim())) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Tells the client why, and returns what to report.
async fn refuse<S: AsyncRead + AsyncWrite + Unpin>(mut stream: S, refused: Refusal) -> Error {
    let Refusal { status, why } = refused;
    let answer = format!(
        "HTTP/1.1 {status}\r\nConnection: close\r\nSec-WebSocket-Version: 13\r\n\
         Content-Type: text/plain\r\nContent-Length: {}\r\n\r\n{why}\n",
        why.len() + 1
    );
    if stream.write_all(answer.as_bytes()).await.is_ok() && stream.shutdown().await.is_ok() {
        let mut rest = stream.take(LINGER_BYTES_MAX);
        let _ = tokio::io::copy(&mut rest, &mut tokio::io::sink()).await;
    }
    Error::new(ErrorKind::InvalidData, format!("WebSocket: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "GET /any/path?x=1 HTTP/1.1\r\nHost: broker:9001\r\nupgrade: WebSocket\r\n\
        Connection: keep-alive, Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
        Sec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: mqttv3.1, mqtt\r\n\
        Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n";

    fn status(request: &str) -> String {
        match answer(request.as_bytes(), &Origins::new(&[], false)) {
            Ok(answer) => answer[9..12].into(),
            Err(refused) => refused.status[..3].into(),
        }
    }

    #[test]
    fn the_answer_proves_the_key_and_agrees_on_mqtt_and_no_extension() {
        let answer = answer(GOOD.as_bytes(), &Origins::new(&[], false)).unwrap();
        // The key and its proof are those of RFC 6455 1.3.
        assert!(answer.contains("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"));
        assert!(answer.contains("Sec-WebSocket-Protocol: mqtt\r\n"));
        assert!(!answer.to_lowercase().contains("extensions"));
    }

    #[test]
    fn what_is_missing_or_twice_is_refused() {
        assert_eq!(status(GOOD), "101");
        let rows = [
            ("GET", "POST", "101"), // the method was checked while the request was read
            ("HTTP/1.1", "HTTP/1.0", "400"),
            ("WebSocket\r\n", "h2c\r\n", "426"),
            ("keep-alive, Upgrade", "keep-alive", "426"),
            ("Version: 13", "Version: 8", "426"),
            ("mqttv3.1, mqtt", "mqttv3.1", "400"),
            ("mqttv3.1, mqtt", "MQTT", "400"),
            ("dGhlIHNhbXBsZSBub25jZQ==", "c2hvcnQ=", "400"),
            ("dGhlIHNhbXBsZSBub25jZQ==", "not base 64", "400"),
            ("Host: broker:9001\r\n", "Host: a\r\nHost: b\r\n", "400"),
            ("Host: broker", "Origin: http://broker\r\nHost: broker", "101"),
            ("Host: broker", "Origin: http://evil\r\nHost: broker", "403"),
            ("Host: broker", "Origin: http://broker\r\nOrigin: http://evil\r\nHost: broker", "400"),
            ("Host: broker", "Host: \u{fffd}", "101"),
            ("Host", "Ho st", "400"),
        ];
        for (part, instead, expected) in rows {
            assert_eq!(status(&GOOD.replace(part, instead)), expected, "{part} -> {instead}");
        }
    }

    #[test]
    fn more_headers_than_a_browser_sends_are_refused() {
        let many = "X: 1\r\n".repeat(HEADERS_MAX);
        let request = GOOD.replace("Host: ", &format!("{many}Host: "));
        assert_eq!(status(&request), "400");
    }

    #[test]
    fn a_request_has_its_limit_however_it_is_cut() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        for (length, cut, expected) in [
            (REQUEST_MAX, 7_500, true),
            (REQUEST_MAX + 1, 7_500, false),
            (REQUEST_MAX + 1, REQUEST_MAX, false),
        ] {
            let path = "x".repeat(length - GOOD.len());
            let request = GOOD.replace("/any", &format!("/any{path}"));
            assert_eq!(request.len(), length);
            let answered = runtime.block_on(async {
                let (mut theirs, ours) = tokio::io::duplex(1 << 20);
                let origins = Origins::new(&[], false);
                let opening = tokio::spawn(async move { accept(ours, &origins, 1).await.is_ok() });
                theirs.write_all(&request.as_bytes()[..cut]).await.unwrap();
                tokio::task::yield_now().await;
                theirs.write_all(&request.as_bytes()[cut..]).await.unwrap();
                theirs.shutdown().await.unwrap();
                opening.await.unwrap()
            });
            assert_eq!(answered, expected, "{length} bytes cut at {cut}");
        }
    }
}
