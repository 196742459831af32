//! What the broker knows and decides per message: topic tree, sessions, queues, values. Pure: time comes in.
