//! Real engines with every kind of listener: what is carried, what is refused, what is left behind.

mod carrying;
mod dial;
mod limits;
mod papers;
#[path = "../talk/mod.rs"]
mod talk;
mod tls;
mod unix;
mod websocket;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use slipring_core::{Limits, Plan};
use slipring_engine::{Engine, ListenerSettings, Settings, StartError};

/// An engine with these listeners.
fn start(listeners: Vec<ListenerSettings>, limits: &Limits) -> Result<Engine, StartError> {
    let settings = Settings {
        audit: None,
        listeners,
        journal: None,
        segment_bytes: 1 << 20,
        threads: 2,
        console_connections: 0,
    };
    Engine::start(&settings, Plan { limits: *limits, ..Plan::default() })
}

/// An engine with one listener.
fn engine(listener: ListenerSettings) -> Engine {
    start(vec![listener], &Limits::default()).unwrap()
}

/// Why an engine with this listener does not start.
fn refusal(listener: ListenerSettings) -> String {
    start(vec![listener], &Limits::default()).err().expect("an error").to_string()
}

/// The first event whose detail has these words.
fn event(engine: &Engine, words: &str) -> String {
    let until = Instant::now() + Duration::from_secs(20);
    let mut seen = Vec::new();
    while Instant::now() < until {
        for event in engine.take_events().events {
            if event.detail.contains(words) {
                return event.detail;
            }
            seen.push(event.detail);
        }
        std::thread::yield_now();
    }
    panic!("no event with '{words}' among {seen:?}");
}

/// A folder that goes when the test ends.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("slipring-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let file = self.file(name);
        std::fs::write(&file, text).unwrap();
        file
    }
}

impl AsRef<Path> for Folder {
    fn as_ref(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
