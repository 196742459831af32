//! Guesses passwords: new connections at a fixed rate, each with a wrong password, until standard input closes.

use std::collections::VecDeque;
use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use clap::Args;
use slipring_wire::{Connect, Packet, Properties, Version};
use socket2::{Domain, SockRef, Socket, Type};

use crate::Result;
use crate::run_report::RunReport;
use crate::standard_input;

/// How long a guess waits for its answer.
const PATIENCE: Duration = Duration::from_millis(200);
/// Connections are begun in groups this far apart.
const TICK: Duration = Duration::from_millis(1);

#[derive(Args)]
pub struct GuessArguments {
    /// Address of the broker, as 127.0.0.1:1883
    pub address: SocketAddr,
    /// Guesses per second
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub rate: u64,
    /// Addresses of loopback that the guesses come from, in turn
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u8).range(1..))]
    pub sources: u8,
    /// The user whose password is guessed
    #[arg(long, default_value = "user")]
    pub user: String,
}

/// Prints a line when it has begun, and one when it has ended.
pub fn run(arguments: &GuessArguments) {
    let closed = standard_input::closed();
    let (began, mut guesses) = (Instant::now(), 0_u64);
    let mut open: VecDeque<(Instant, TcpStream)> = VecDeque::new();
    RunReport::default().number("rate", arguments.rate).print();
    while !closed.load(Ordering::Relaxed) {
        let due = began.elapsed().as_micros() as u64 * arguments.rate / 1_000_000;
        while guesses < due {
            if let Ok(stream) = guess(arguments, guesses) {
                open.push_back((Instant::now(), stream));
            }
            guesses += 1;
        }
        while open.front().is_some_and(|(since, _)| since.elapsed() > PATIENCE) {
            open.pop_front();
        }
        std::thread::sleep(TICK);
    }
    let elapsed = began.elapsed();
    RunReport::default()
        .number("guesses", guesses)
        .seconds("seconds", elapsed)
        .rate("per_second", guesses, elapsed)
        .print();
}

/// A new connection that has sent its CONNECT.
fn guess(arguments: &GuessArguments, number: u64) -> Result<TcpStream> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
    let host = (number % u64::from(arguments.sources)) as u8 + 1;
    socket.bind(&SocketAddr::from((Ipv4Addr::new(127, 0, 1, host), 0)).into())?;
    socket.connect(&arguments.address.into())?;
    let mut stream = TcpStream::from(socket);
    // A port is free again at once, and not only after a minute.
    SockRef::from(&stream).set_linger(Some(Duration::ZERO))?;
    stream.write_all(&packet(&arguments.user, number))?;
    Ok(stream)
}

fn packet(user: &str, number: u64) -> Vec<u8> {
    let (client_id, password) = (format!("guess-{number}"), format!("wrong-{number}"));
    let connect = Packet::Connect(Box::new(Connect {
        version: Version::V5,
        clean_start: true,
        keep_alive_s: 0,
        client_id: &client_id,
        properties: Properties::NONE,
        will: None,
        user_name: Some(user),
        password: Some(password.as_bytes()),
    }));
    let mut bytes = Vec::new();
    connect.encode(Version::V5, &mut bytes);
    bytes
}
