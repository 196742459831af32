"""The bounds on what a client may do, and what happens there."""

from typing import Literal

from pydantic import Field

from slipring.control.section import Section

KIB = 1024
MIB = 1024 * KIB
FullPolicy = Literal["drop_oldest", "drop_newest", "disconnect"]


class LimitsSection(Section):
    """The bounds on what a client may do, and what happens there."""

    connections: int = Field(
        10_000,
        ge=1,
        le=1_000_000,
        description="Clients at once; a further one is sent to `mqtt.server_reference` "
        "(0x9c) or told the server is busy (0x89).",
    )
    sessions: int = Field(
        100_000,
        ge=1,
        le=10_000_000,
        description="Sessions, connected or waiting for their client; a further one is "
        "refused (0x97).",
    )
    packet_bytes: int = Field(
        MIB,
        ge=KIB,
        le=256 * MIB,
        description="Bytes of one packet; a larger one ends its connection (0x95).",
    )
    connect_bytes: int = Field(
        16 * KIB,
        ge=256,
        le=MIB,
        description="Bytes of the CONNECT packet, and of all others before the client has proved "
        "who it is.",
    )
    connect_ms: int = Field(
        10_000,
        ge=10,
        le=600_000,
        description="Milliseconds from the connection to its whole CONNECT packet, and to the end "
        "of its authentication.",
    )
    keep_alive_s: int = Field(
        3_600,
        ge=1,
        le=65_535,
        description="Longest keep-alive; a client that asks for more, or for none, gets this one.",
    )
    session_expiry_s: int = Field(
        7 * 24 * 3_600,
        ge=0,
        le=2**32 - 1,
        description="Seconds the session of a client that is away is kept at most; "
        "4294967295 is for ever.",
    )
    client_id_bytes: int = Field(
        256,
        ge=23,
        le=65_535,
        description="Bytes of a client identifier; a longer one is refused (0x85).",
    )
    topic_levels: int = Field(
        32,
        ge=1,
        le=128,
        description="Levels of a topic or a filter; more are refused (0x90, 0x8f).",
    )
    topic_bytes: int = Field(
        1_024,
        ge=16,
        le=65_535,
        description="Bytes of a topic or a filter; more are refused (0x90, 0x8f).",
    )
    user_properties: int = Field(
        64,
        ge=0,
        le=10_000,
        description="User properties of one packet; more end its connection (0x97).",
    )
    topic_aliases: int = Field(
        256,
        ge=0,
        le=65_535,
        description="Topic aliases of one connection, each way; a higher one ends it (0x94).",
    )
    subscriptions: int = Field(
        1_000,
        ge=1,
        le=1_000_000,
        description="Subscriptions of one client; a further one is refused (0x97).",
    )
    receive_max: int = Field(
        1_024,
        ge=1,
        le=65_535,
        description="QoS 2 messages a client may have unfinished; one more ends its "
        "connection (0x93).",
    )
    inflight: int = Field(
        1_024,
        ge=1,
        le=65_535,
        description="QoS 1 and 2 messages sent to a client and not settled; further ones "
        "wait in its queue.",
    )
    queue_messages: int = Field(
        100_000,
        ge=1,
        le=100_000_000,
        description="QoS 1 and 2 messages waiting for one client; beyond it `qos12_full` acts.",
    )
    queue_bytes: int = Field(
        64 * MIB,
        ge=KIB,
        le=64 * 1024 * MIB,
        description="Their bytes; beyond it `qos12_full` acts.",
    )
    outbox_bytes: int = Field(
        8 * MIB,
        ge=KIB,
        le=1024 * MIB,
        description="Bytes of QoS 0 messages waiting for one client; beyond it `qos0_full` acts.",
    )
    qos0_full: FullPolicy = Field(
        "drop_oldest",
        description="What a full QoS 0 outbox does: drop_oldest, drop_newest or disconnect (0x97).",
    )
    qos12_full: FullPolicy = Field(
        "drop_oldest",
        description="What a full QoS 1 and 2 queue does: drop_oldest, drop_newest or disconnect "
        "(0x97). Drops are counted, and told to MQTT 5 clients.",
    )
    retained_messages: int = Field(
        100_000,
        ge=0,
        le=100_000_000,
        description="Retained messages; a further topic is carried, but not retained (0x97).",
    )
    retained_bytes: int = Field(
        256 * MIB,
        ge=0,
        le=64 * 1024 * MIB,
        description="Their bytes.",
    )
    waiting_messages: int = Field(
        100_000,
        ge=0,
        le=100_000_000,
        description="Messages waiting for their first subscriber; a further one is refused (0x97), "
        "unless others of lower priority can go.",
    )
    waiting_bytes: int = Field(
        64 * MIB,
        ge=0,
        le=64 * 1024 * MIB,
        description="Their bytes.",
    )
    journal_requests: int = Field(
        256,
        ge=0,
        le=100_000,
        description="Requests of readers on other machines that wait for the journal, of all "
        "clients; a further one is told to ask again later. 0 lets nobody read it.",
    )
    values: int = Field(
        100_000,
        ge=0,
        le=10_000_000,
        description="Topics whose newest value is kept for the console; further ones are "
        "carried, not shown.",
    )
    parameters: int = Field(
        200_000,
        ge=0,
        le=10_000_000,
        description="Parameters of the table; a declaration of further ones is refused as a whole.",
    )
    parameter_bytes: int = Field(
        64 * MIB,
        ge=0,
        le=64 * 1024 * MIB,
        description="Bytes of the newest values of all text and bytes parameters; a sample that "
        "would make more is refused, with its frame.",
    )
    selection_bytes: int = Field(
        256 * MIB,
        ge=0,
        le=64 * 1024 * MIB,
        description="Bytes that selections with change or deadband remember of what they sent, all "
        "together; a further one is refused.",
    )
    streams: int = Field(
        1_000,
        ge=0,
        le=100_000,
        description="Streams; a declaration of further ones is refused as a whole.",
    )
