//! Plays many histories, and stops at the first broken promise with the seed that shows it.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Parser;
use slipring_simulation::{Fault, History, Verdict, play};

/// Play histories of crashes on a simulated disk and judge what the broker promised.
#[derive(Parser)]
#[command(about)]
struct Arguments {
    /// How many histories of each fault.
    #[arg(long, default_value_t = 10_000)]
    histories: u64,
    /// The first seed.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// How much happens in each.
    #[arg(long, default_value_t = 300)]
    steps: usize,
}

fn main() -> ExitCode {
    let Arguments { histories, seed, steps } = Arguments::parse();
    let mut told = Instant::now();
    for fault in Fault::REAL {
        let mut total = Verdict::default();
        for seed in seed..seed + histories {
            let verdict = play(&History { seed, fault, steps });
            if let Some(broken) = verdict.broken.first() {
                println!("{fault:?}, seed {seed}: {broken}");
                println!("{verdict}");
                return ExitCode::FAILURE;
            }
            total.add(verdict);
            if told.elapsed() > Duration::from_secs(5) {
                told = Instant::now();
                eprintln!("{fault:?}: seed {seed}, {total}");
            }
        }
        println!("{fault:?}: {histories} histories, {total}");
    }
    ExitCode::SUCCESS
}
