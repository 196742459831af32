//! Packets to bytes and back, for every MQTT version we speak. Pure: no I/O, no clock.
