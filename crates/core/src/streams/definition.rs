//! The definition of a stream: its media type, its description, its source and the size of its buffer.

use serde::{Deserialize, Serialize};

use crate::desk::{DESCRIPTION_BYTES_MAX, ProblemCode, Report, SOURCE_BYTES_MAX, check_text};

const BUFFER_BYTES_MIN: usize = 1 << 10;
const BUFFER_BYTES_MAX: usize = 64 << 20;
const MEDIA_BYTES_MAX: usize = 256;

/// The definition of a stream, without its name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object such as {\"media\": \"audio/pcm;rate=48000\"}")]
pub struct StreamDefinition {
    /// The media type of its chunks, such as `audio/pcm;rate=48000`.
    pub media: String,
    /// What it is, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The size of its buffer.
    #[serde(default = "buffer_bytes")]
    pub buffer_bytes: usize,
    /// Where it comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

/// The bytes of a buffer if a declaration does not say.
pub(super) fn buffer_bytes() -> usize {
    1 << 20
}

impl StreamDefinition {
    /// A definition with a media type and defaults for the rest.
    pub fn new(media: impl Into<String>) -> Self {
        let media = media.into();
        Self { media, description: None, buffer_bytes: buffer_bytes(), source: None }
    }

    /// Reads the JSON of [`Self::to_json`].
    pub fn from_json(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// The definition as JSON, for the journal.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("strings and a number")
    }

    /// Reports every problem of the definition.
    pub(super) fn check(&self, report: &mut Report<'_>) {
        if let Err(text) = check_media(&self.media) {
            report(ProblemCode::Media, text);
        }
        let description = self.description.as_ref();
        check_text(ProblemCode::Description, description, DESCRIPTION_BYTES_MAX, report);
        check_text(ProblemCode::Source, self.source.as_ref(), SOURCE_BYTES_MAX, report);
        if !(BUFFER_BYTES_MIN..=BUFFER_BYTES_MAX).contains(&self.buffer_bytes) {
            let text = format!(
                "buffer_bytes must be from {BUFFER_BYTES_MIN} to {BUFFER_BYTES_MAX}, not {}",
                self.buffer_bytes
            );
            report(ProblemCode::Buffer, text);
        }
    }
}

/// A media type is a type, a slash, a subtype and perhaps parameters; the parameters are not checked.
fn check_media(media: &str) -> Result<(), String> {
    let bytes = media.len();
    if bytes > MEDIA_BYTES_MAX {
        return Err(format!("the media type has {bytes} bytes; {MEDIA_BYTES_MAX} are allowed"));
    }
    let essence = media.split(';').next().unwrap_or_default();
    let is_token = |text: &str| {
        !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'/')
    };
    let is_text = media.chars().all(|character| !character.is_control());
    match essence.trim_end().split_once('/') {
        Some((kind, subtype)) if is_text && is_token(kind) && is_token(subtype) => Ok(()),
        _ => Err("a media type is like `audio/pcm;rate=48000` or `video/h264`".to_owned()),
    }
}
