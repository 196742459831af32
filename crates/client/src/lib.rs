//! The client: a pure protocol machine, and the driver that gives it a socket.
