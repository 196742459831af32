//! What a stream is: its media type, what people are told of it, and how much of it is kept.

use serde::{Deserialize, Serialize};

use crate::desk::ProblemCode;

/// Bytes of a buffer where nothing is said.
pub const BUFFER_BYTES: usize = 1 << 20;
/// The smallest buffer.
pub const BUFFER_BYTES_MIN: usize = 1 << 10;
/// The largest buffer.
pub const BUFFER_BYTES_MAX: usize = 64 << 20;
const MEDIA_BYTES_MAX: usize = 256;
const DESCRIPTION_BYTES_MAX: usize = 1_000;
const SOURCE_BYTES_MAX: usize = 256;

/// A stream, without its name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object such as {\"media\": \"audio/pcm;rate=48000\"}")]
pub struct Definition {
    /// The media type of its chunks, such as `audio/pcm;rate=48000`.
    pub media: String,
    /// For people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Bytes of its last chunks that are kept.
    #[serde(default = "buffer_bytes")]
    pub buffer_bytes: usize,
    /// Where it comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

fn buffer_bytes() -> usize {
    BUFFER_BYTES
}

impl Definition {
    /// Of this media type, the rest as it is when nothing is said.
    pub fn new(media: impl Into<String>) -> Self {
        let media = media.into();
        Self { media, description: None, buffer_bytes: BUFFER_BYTES, source: None }
    }

    /// Reads the JSON of [`Self::to_json`].
    pub fn from_json(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// As JSON, for the journal.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("strings and a number")
    }

    /// Tells everything that is wrong with it.
    pub(super) fn check(&self, tell: &mut dyn FnMut(ProblemCode, String)) {
        if let Err(text) = check_media(&self.media) {
            tell(ProblemCode::Media, text);
        }
        let texts = [
            (ProblemCode::Description, "description", &self.description, DESCRIPTION_BYTES_MAX),
            (ProblemCode::Source, "source", &self.source, SOURCE_BYTES_MAX),
        ];
        for (code, what, text, most) in texts {
            let bytes = text.as_ref().map_or(0, String::len);
            if bytes > most {
                tell(code, format!("a {what} of {bytes} bytes; {most} are allowed"));
            }
        }
        if !(BUFFER_BYTES_MIN..=BUFFER_BYTES_MAX).contains(&self.buffer_bytes) {
            let text = format!(
                "buffer_bytes is from {BUFFER_BYTES_MIN} to {BUFFER_BYTES_MAX}, not {}",
                self.buffer_bytes
            );
            tell(ProblemCode::Buffer, text);
        }
    }
}

/// A media type is a type, a slash, a subtype and perhaps parameters; no more is looked at.
fn check_media(media: &str) -> Result<(), String> {
    let bytes = media.len();
    if bytes > MEDIA_BYTES_MAX {
        return Err(format!("a media type of {bytes} bytes; {MEDIA_BYTES_MAX} are allowed"));
    }
    let whole = media.split(';').next().unwrap_or_default();
    let is_token = |text: &str| {
        !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'/')
    };
    let is_text = media.chars().all(|character| !character.is_control());
    match whole.trim_end().split_once('/') {
        Some((kind, subtype)) if is_text && is_token(kind) && is_token(subtype) => Ok(()),
        _ => Err("a media type is like `audio/pcm;rate=48000` or `video/h264`".to_owned()),
    }
}
