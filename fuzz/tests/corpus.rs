//! Runs every kept input through its target: seeds, and inputs that once broke a law. `fuzz/README.md` says
//! how to add one.

use std::fs;
use std::path::{Path, PathBuf};

use slipring_fuzz::{TARGETS, Target};

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus")
}

fn kept(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the corpus has a folder for each target");
    entries.map(|entry| entry.unwrap().path()).collect()
}

/// A panic says which input it was, because the test's output shows this line.
fn run(target: Target, input: &Path) {
    println!("{}", input.display());
    target(&fs::read(input).unwrap());
}

#[test]
fn every_target_keeps_its_laws_on_every_kept_input() {
    for (name, target) in TARGETS {
        let inputs = kept(&corpus().join(name));
        assert!(!inputs.is_empty(), "{name} has no seed");
        for input in &inputs {
            run(*target, input);
        }
    }
}

#[test]
fn every_target_takes_an_empty_input() {
    for (_, target) in TARGETS {
        target(&[]);
    }
}

#[test]
fn every_folder_of_the_corpus_belongs_to_a_target() {
    for folder in kept(&corpus()) {
        let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
        assert!(slipring_fuzz::target(&name).is_some(), "{name}");
    }
}
