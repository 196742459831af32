//! The kept frames are what the encoder makes, and hold what the files beside them say.

use std::fs;

use crate::kept::{example, folder, hex, json, kept, unhex};

const REPAIR: &str = "cargo run -p slipring-wire --example keep_frames writes it again";

fn read(name: &str) -> String {
    fs::read_to_string(folder().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn the_kept_frames_are_what_the_encoder_makes() {
    for (name, frame) in kept() {
        let file = unhex(&read(&format!("{name}.hex")));
        // Another version of the library may deflate otherwise; what counts is what is in it.
        if name != "deflated" {
            assert_eq!(hex(&file), hex(&frame), "{name}: {REPAIR}");
        }
        assert_eq!(file[4] & 1 == 1, name == "deflated", "{name}");
        assert_eq!(json(&file), json(&frame), "{name}: {REPAIR}");
    }
}

#[test]
fn the_kept_frames_hold_what_the_files_beside_them_say() {
    for (name, _) in kept() {
        let file = unhex(&read(&format!("{name}.hex")));
        assert_eq!(json(&file), read(&format!("{name}.json")), "{name}: {REPAIR}");
    }
}

#[test]
fn the_example_of_the_specification_is_what_the_encoder_makes() {
    let page = read("../../../docs/frames.md");
    let (_, rest) = page.split_once("```hex\n").expect("the page has an example");
    let (digits, _) = rest.split_once("```").expect("the example ends");
    assert_eq!(hex(&unhex(digits)), hex(&example()));
}
