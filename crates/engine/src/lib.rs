//! Sockets, timers and threads; drives core and journal. Decides nothing itself.
