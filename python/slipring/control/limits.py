"""The limits of the configuration. `crates/core/src/limits.rs` has the same keys and defaults."""

from typing import Annotated, Literal

from pydantic import Field

from slipring.control.section import Section, between

KIB = 1024
MIB = 1024 * KIB
FullPolicy = Literal["drop_oldest", "drop_newest", "disconnect"]
Percent = Annotated[int, between(1, 100)]
StoredMessages = Annotated[int, between(0, 100_000_000)]
StoredBytes = Annotated[int, between(0, 64 * 1024 * MIB)]
TwoBytes = Annotated[int, between(1, 65_535)]
"""MQTT writes such a number in two bytes."""


class LimitsSection(Section):
    """The bounds on what a client may do, and what happens there."""

    connections: Annotated[int, between(1, 1_000_000)] = Field(
        10_000,
        description="Clients at once; a further one is sent to `mqtt.server_reference` "
        "(0x9c) or told the server is busy (0x89).",
    )
    sessions: Annotated[int, between(1, 10_000_000)] = Field(
        100_000,
        description="Sessions that are kept when their client goes, whether it is here or away; a "
        "further one is refused (0x97).",
    )
    packet_bytes: Annotated[int, between(KIB, 256 * MIB)] = Field(
        4 * MIB + 128 * KIB,
        description="Bytes of one packet; a larger one ends its connection (0x95).",
    )
    connect_bytes: Annotated[int, between(256, MIB)] = Field(
        16 * KIB,
        description="Bytes of the CONNECT packet, and of all others before the client has proved "
        "who it is.",
    )
    connect_ms: Annotated[int, between(10, 600_000)] = Field(
        10_000,
        description="Milliseconds from the connection to its whole CONNECT packet, and to the end "
        "of its authentication.",
    )
    password_checks: Annotated[int, between(1, 100_000)] = Field(
        1_000,
        description="Passwords of one address that wait to be checked; beyond it the one that has "
        "waited longest is told that the server is busy (0x89).",
    )
    connects_per_s: Annotated[int, between(0, 1_000_000)] = Field(
        0,
        description="Connections that one address may open in a second; a further one is closed at "
        "once. 0 is no bound.",
    )
    wrong_proofs_per_min: Annotated[int, between(0, 1_000_000)] = Field(
        0,
        description="Wrong proofs of one user name by one address in a minute; beyond it the "
        "address is refused for that name (0x9f), its right proofs too. 0 is no bound.",
    )
    keep_alive_s: TwoBytes = Field(
        3_600,
        description="Longest keep-alive of MQTT 5; a client that asks for more, or for none, is "
        "told this one. MQTT 3.1.1 cannot be told, and keeps its own.",
    )
    session_expiry_s: Annotated[int, between(0, 2**32 - 1)] = Field(
        7 * 24 * 3_600,
        description="Seconds the session of a client that is away is kept at most; "
        "4294967295 is for ever.",
    )
    client_id_bytes: Annotated[int, between(23, 65_535)] = Field(
        1_024, description="Bytes of a client identifier; a longer one is refused (0x85)."
    )
    topic_levels: Annotated[int, between(1, 128)] = Field(
        32, description="Levels of a topic or a filter; more are refused (0x90, 0x8f)."
    )
    topic_bytes: Annotated[int, between(16, 65_535)] = Field(
        4_096, description="Bytes of a topic or a filter; more are refused (0x90, 0x8f)."
    )
    user_properties: Annotated[int, between(0, 10_000)] = Field(
        64, description="User properties of one packet; more end its connection (0x97)."
    )
    topic_aliases: Annotated[int, between(0, 65_535)] = Field(
        256, description="Topic aliases of one connection, each way; a higher one ends it (0x94)."
    )
    subscriptions: Annotated[int, between(1, 1_000_000)] = Field(
        1_000, description="Subscriptions of one client; a further one is refused (0x97)."
    )
    receive_max: TwoBytes = Field(
        1_024,
        description="QoS 2 messages a client may have unfinished; one more ends its "
        "connection (0x93).",
    )
    inflight: TwoBytes = Field(
        1_024,
        description="QoS 1 and 2 messages sent to a client and not settled; further ones "
        "wait in its queue.",
    )
    queue_messages: Annotated[int, between(1, 100_000_000)] = Field(
        100_000,
        description="QoS 1 and 2 messages waiting for one client; beyond it `qos12_full` acts.",
    )
    queue_bytes: Annotated[int, between(KIB, 64 * 1024 * MIB)] = Field(
        64 * MIB, description="Their bytes; beyond it `qos12_full` acts."
    )
    outbox_bytes: Annotated[int, between(KIB, 1024 * MIB)] = Field(
        8 * MIB,
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
    retained_messages: StoredMessages = Field(
        100_000,
        description="Retained messages; a further topic is carried, but not retained (0x97).",
    )
    retained_bytes: StoredBytes = Field(256 * MIB, description="Their bytes.")
    waiting_messages: StoredMessages = Field(
        100_000,
        description="Messages waiting for their first subscriber; a further one is refused (0x97), "
        "unless others of lower priority can go.",
    )
    waiting_bytes: StoredBytes = Field(64 * MIB, description="Their bytes.")
    requests: Annotated[int, between(0, 100_000_000)] = Field(
        1_000_000, description="Open requests; a further one is refused (0x97)."
    )
    request_timeout_s: Annotated[int, between(1, 3_155_760_000)] = Field(
        7 * 24 * 3_600,
        description="The longest time-out of a request, in seconds; a longer one is refused.",
    )
    journal_requests: Annotated[int, between(0, 100_000)] = Field(
        256,
        description="Requests of readers on other machines that wait for the journal, of all "
        "clients; a further one is told to ask again later. 0 lets nobody read it.",
    )
    values: Annotated[int, between(0, 10_000_000)] = Field(
        100_000,
        description="Topics whose newest value is kept for the console; further ones are "
        "carried, not shown.",
    )
    parameters: Annotated[int, between(0, 10_000_000)] = Field(
        200_000,
        description="Parameters of the table; a declaration of further ones is refused as a whole.",
    )
    parameter_bytes: StoredBytes = Field(
        64 * MIB,
        description="Bytes of the newest values of all text and bytes parameters; a sample that "
        "would make more is refused, with its frame.",
    )
    selection_bytes: StoredBytes = Field(
        256 * MIB,
        description="Bytes that selections with change or deadband remember of what they sent, all "
        "together; a further one is refused.",
    )
    streams: Annotated[int, between(0, 100_000)] = Field(
        1_000, description="Streams; a declaration of further ones is refused as a whole."
    )
    memory_bytes: Annotated[int, between(0, 1024 * 1024 * MIB)] = Field(
        0,
        description="Bytes of memory for all that is stored for others (docs/limits.md); beyond it "
        "plain messages are dropped first. 0 is a quarter of the machine's memory, or of the "
        "control group's. `slipring memory` changes it until this file is read again.",
    )
    owner_connections_percent: Percent = Field(
        90,
        description="Percent of `connections` that one user, or one address of clients that prove "
        "no name, may have; a further one is refused (0x97). 100 turns the quota off.",
    )
    owner_sessions_percent: Percent = Field(
        75, description="Percent of `sessions` that one user or address may have (0x97)."
    )
    owner_retained_percent: Percent = Field(
        75,
        description="Percent of `retained_messages` and of `retained_bytes` that one user or "
        "address may have (0x97).",
    )
    owner_waiting_percent: Percent = Field(
        75,
        description="Percent of `waiting_messages` and of `waiting_bytes` that one user or address "
        "may have (0x97).",
    )
    owner_requests_percent: Percent = Field(
        75, description="Percent of `requests` that one user or address may have (0x97)."
    )
    owner_parameters_percent: Percent = Field(
        95, description="Percent of `parameters` that one user or address may have."
    )
    owner_selections_percent: Percent = Field(
        75, description="Percent of `selection_bytes` that one user or address may have (0x97)."
    )
    owner_streams_percent: Percent = Field(
        75,
        description="Percent of `streams`, and of the bytes of all their buffers, that one user or "
        "address may have.",
    )
    reserve_percent: Annotated[int, between(0, 50)] = Field(
        5,
        description="Percent of each of these limits that is kept back for users and addresses "
        "that hold little of it.",
    )
