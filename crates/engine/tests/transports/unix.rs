//! The file of a Unix socket: made, replaced when stale, left alone when alive, and removed.

use std::os::unix::net::{UnixListener, UnixStream};

use slipring_engine::ListenerSettings;

use crate::{Folder, dial, engine, refusal};

#[test]
fn the_socket_file_goes_when_the_broker_stops() {
    let folder = Folder::new("gone");
    let path = folder.file("mqtt.sock");
    let engine = engine(ListenerSettings::unix("local", &path));
    assert_eq!(engine.addresses()[0].to_string(), format!("unix:{}", path.display()));
    assert!(path.exists());
    engine.stop().unwrap();
    assert!(!path.exists());
}

#[test]
fn a_stale_socket_file_is_replaced() {
    let folder = Folder::new("stale");
    let path = folder.file("mqtt.sock");
    drop(UnixListener::bind(&path).unwrap());
    assert!(path.exists());
    let _engine = engine(ListenerSettings::unix("local", &path));
    dial::greet(UnixStream::connect(&path).unwrap(), "client");
}

#[test]
fn a_socket_that_another_answers_on_is_left_alone() {
    let folder = Folder::new("alive");
    let path = folder.file("mqtt.sock");
    let first = engine(ListenerSettings::unix("local", &path));
    let error = refusal(ListenerSettings::unix("second", &path));
    assert!(error.starts_with("listener 'second' cannot listen on unix:/"), "{error}");
    assert!(error.ends_with(": another process answers there"), "{error}");
    dial::greet(UnixStream::connect(&path).unwrap(), "client");
    drop(first);
}

#[test]
fn a_file_that_is_no_socket_is_left_alone() {
    let folder = Folder::new("file");
    let path = folder.write("notes.txt", "mine");
    let error = refusal(ListenerSettings::unix("local", &path));
    assert!(error.ends_with(": a file that is no socket is there"), "{error}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "mine");
}

#[test]
fn a_file_that_is_not_ours_any_more_is_left_alone() {
    let folder = Folder::new("theirs");
    let path = folder.file("mqtt.sock");
    let engine = engine(ListenerSettings::unix("local", &path));
    std::fs::remove_file(&path).unwrap();
    folder.write("mqtt.sock", "theirs");
    engine.stop().unwrap();
    assert!(path.exists());
}

#[test]
fn a_path_too_long_and_a_folder_that_is_not_there_are_told() {
    let folder = Folder::new("long");
    let error = refusal(ListenerSettings::unix("local", &folder.file(&"x".repeat(120))));
    assert!(error.contains("bytes, a Unix socket takes 107 at most"), "{error}");
    let longest = 107 - folder.file("").as_os_str().len();
    let engine = engine(ListenerSettings::unix("local", &folder.file(&"x".repeat(longest))));
    engine.stop().unwrap();
    let error = refusal(ListenerSettings::unix("local", &folder.file("missing/mqtt.sock")));
    assert!(error.contains("No such file"), "{error}");
}
