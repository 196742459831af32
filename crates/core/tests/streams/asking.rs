//! Requests about streams: their answers, their refusals, and the messages that announce changes.

use serde_json::{Value, json};
use slipring_core::desk::{Desk, ProblemCode, RequestOutcome};
use slipring_core::streams::{ChunkBudget, ChunkRefused, Streams, StreamsChange, StreamsRequest};
use slipring_core::table::ClockReading;
use slipring_core::{SessionKey, StreamIndex};
use slipring_wire::Publish;
use slipring_wire::frame::RangeSet;

use crate::world::{
    ANY_BYTES, PUBLISHER, declare, follow, push, requester, selection, streams, take, take_at_most,
};

fn ask(
    streams: &mut Streams,
    session: SessionKey,
    name: &str,
    body: &Value,
) -> (Value, RequestOutcome<StreamsChange>) {
    let body = body.to_string();
    let outcome = streams.answer(StreamsRequest::parse(name, body.as_bytes()), &requester(session));
    (serde_json::from_slice(&outcome.answer).unwrap(), outcome)
}

fn set(index: StreamIndex) -> RangeSet {
    std::iter::once(index.get()).collect()
}

fn one(name: &str) -> Value {
    json!({"streams": [{"name": name, "media": "audio/pcm"}]})
}

#[test]
fn a_declared_stream_is_listed_with_the_state_of_its_buffer() {
    let mut streams = streams();
    let body = json!({"prefix": "gripen/39-7", "streams": [
        {"name": "sound", "media": "audio/pcm;rate=48000", "buffer_bytes": 4096},
        {"name": "eye", "media": "video/h264", "description": "left", "source": "camera 2"},
    ]});
    let (answer, outcome) = ask(&mut streams, PUBLISHER, "declare", &body);
    assert_eq!(answer, json!({"revision": 1, "indices": [0, 1]}));
    let messages = streams.changed(&outcome.change, ClockReading::default()).unwrap();
    let messages: Value = serde_json::from_slice(&messages[0]).unwrap();
    assert_eq!(
        messages,
        json!({"revision": 1, "event": "added", "indices": [0, 1],
               "names": ["gripen/39-7/sound", "gripen/39-7/eye"]})
    );
    push(&mut streams, StreamIndex::new(0), 0, 100);
    let (listed, _) =
        ask(&mut streams, SessionKey::new(9), "list", &json!({"filter": "+/+/sound"}));
    assert_eq!(
        listed,
        json!({"revision": 1, "next": null, "streams": [{
            "index": 0, "name": "gripen/39-7/sound", "media": "audio/pcm;rate=48000",
            "buffer_bytes": 4096, "live": true, "publishers": 1, "first": 0, "next": 1,
            "bytes": 100, "received_bytes": 100, "received_ns": 0,
        }]})
    );
    let (page, _) = ask(&mut streams, SessionKey::new(9), "list", &json!({"count": 1}));
    assert_eq!(page["next"], 1);
}

#[test]
fn a_wrong_request_changes_nothing_and_its_answer_says_why() {
    let long = "x".repeat(2_000);
    let rows: [(&str, Value, &str, &str); 14] = [
        ("declare", json!([]), "malformed", "a declaration is {"),
        ("declare", json!({"streams": [{"name": "a"}]}), "malformed", "missing field `media`"),
        ("declare", json!({"streams": [{"name": "", "media": "a/b"}]}), "name", "empty"),
        ("declare", json!({"prefix": "a/", "streams": []}), "name", "ends with /"),
        ("declare", one("a/#"), "name", ""),
        ("declare", one("$a"), "name", "reserved for the broker"),
        ("declare", one("rpm"), "clash", "a parameter has this name"),
        ("declare", json!({"streams": [{"name": "a", "media": "pcm"}]}), "media", "audio/pcm"),
        (
            "declare",
            json!({"streams": [{"name": "a", "media": "a/b", "buffer_bytes": 1}]}),
            "buffer",
            "from 1024 to 67108864, not 1",
        ),
        (
            "declare",
            json!({"streams": [{"name": "a", "media": "a/b", "buffer_bytes": -1}]}),
            "malformed",
            "-1",
        ),
        (
            "declare",
            json!({"streams": [{"name": "a", "media": "a/b", "description": long}]}),
            "description",
            "2000 bytes",
        ),
        (
            "declare",
            json!({"streams": [{"name": "a", "media": "a/b"}, {"name": "a", "media": "a/b"}]}),
            "duplicate",
            "twice",
        ),
        ("remove", json!({"names": ["there", "nowhere"]}), "unknown", "no stream"),
        ("dance", json!({}), "request", "declare, list, remove"),
    ];
    for (name, body, code, words) in rows {
        let mut streams = streams();
        declare(&mut streams, "there", 1_024);
        let (answer, outcome) = ask(&mut streams, PUBLISHER, name, &body);
        assert_eq!(answer["error"], code, "{body}: {answer}");
        assert!(answer["message"].as_str().unwrap().contains(words), "{body}: {answer}");
        assert!(outcome.change.is_empty() && streams.catalog().len() == 1, "{body}");
    }
}

#[test]
fn streams_and_the_bytes_of_their_buffers_are_limited() {
    let mut streams = streams();
    let large =
        |at: usize| json!({"name": format!("s/{at}"), "media": "a/b", "buffer_bytes": 64 << 20});
    let four: Vec<Value> = (0..4).map(large).collect();
    let (_, outcome) = ask(&mut streams, PUBLISHER, "declare", &json!({"streams": four}));
    assert_eq!(outcome.refused, None);
    let (answer, outcome) = ask(&mut streams, PUBLISHER, "declare", &one("more"));
    assert_eq!(outcome.refused, Some(ProblemCode::Full), "{answer}");
    ask(&mut streams, PUBLISHER, "remove", &json!({"names": ["s/0"]}));
    let small =
        |at: usize| json!({"name": format!("t/{at}"), "media": "a/b", "buffer_bytes": 1024});
    let many: Vec<Value> = (0..98).map(small).collect();
    let (answer, _) = ask(&mut streams, PUBLISHER, "declare", &json!({"streams": many}));
    assert!(answer["message"].as_str().unwrap().contains("limits.streams"), "{answer}");
    let (answer, _) = ask(&mut streams, PUBLISHER, "declare", &json!({"streams": many[..97]}));
    assert_eq!(answer["indices"][0], 4);
}

#[test]
fn only_a_client_that_declared_a_stream_publishes_it_and_without_it_the_stream_is_silent() {
    let mut streams = streams();
    let index = declare(&mut streams, "sound", 1_024);
    let chunk = Publish::new("sound", b"noise");
    let refused = streams.push(SessionKey::new(2), index, &chunk, 5).unwrap_err();
    assert!(matches!(refused, ChunkRefused::NotDeclared { .. }));
    let large = vec![0; 1_025];
    let refused = streams.push(PUBLISHER, index, &Publish::new("sound", &large), 5).unwrap_err();
    assert!(refused.to_string().contains("1025 bytes"), "{refused}");
    let messages: Value =
        serde_json::from_slice(&streams.leave(PUBLISHER, false, ClockReading::default())[0])
            .unwrap();
    assert_eq!((&messages["event"], &messages["names"]), (&json!("silent"), &json!(["sound"])));
    let (_, outcome) = ask(&mut streams, SessionKey::new(2), "declare", &one("sound"));
    assert_eq!(outcome.change.live, set(index));
    let (answer, _) = ask(&mut streams, SessionKey::new(3), "remove", &json!({"names": ["sound"]}));
    assert_eq!(answer["error"], "published");
    let other = json!({"streams": [{"name": "sound", "media": "video/h264"}]});
    let (answer, _) = ask(&mut streams, SessionKey::new(3), "declare", &other);
    assert!(answer["message"].as_str().unwrap().contains("publishes it as audio/pcm"), "{answer}");
}

fn events(messages: &[Vec<u8>]) -> Vec<String> {
    let event =
        |json: &Vec<u8>| serde_json::from_slice::<Value>(json).unwrap()["event"].to_string();
    messages.iter().map(event).collect()
}

#[test]
fn a_session_owns_the_streams_it_declared_until_it_ends() {
    let mut streams = streams();
    let index = declare(&mut streams, "sound", 1_024);
    let chunk = Publish::new("sound", b"noise");
    assert_eq!(events(&streams.leave(PUBLISHER, true, ClockReading::default())), ["\"silent\""]);
    let (listed, _) = ask(&mut streams, SessionKey::new(9), "list", &json!({}));
    assert_eq!(listed["streams"][0]["live"], false);
    let messages = streams.push(PUBLISHER, index, &chunk, 5).unwrap().messages;
    assert_eq!(events(&messages), ["\"live\""]);
    assert_eq!(events(&streams.push(PUBLISHER, index, &chunk, 5).unwrap().messages), [""; 0]);
    assert_eq!(events(&streams.leave(PUBLISHER, true, ClockReading::default())), ["\"silent\""]);
    streams.end(PUBLISHER);
    assert!(streams.push(PUBLISHER, index, &chunk, 5).is_err());
}

#[test]
fn a_session_that_ends_with_its_connection_keeps_no_streams() {
    let mut streams = streams();
    let index = declare(&mut streams, "sound", 1_024);
    streams.end(PUBLISHER);
    assert_eq!(events(&streams.leave(PUBLISHER, false, ClockReading::default())), ["\"silent\""]);
    assert!(streams.push(PUBLISHER, index, &Publish::new("sound", b"noise"), 5).is_err());
}

#[test]
fn a_restored_session_owns_the_streams_it_declared_that_still_exist() {
    let mut streams = streams();
    let index = declare(&mut streams, "sound", 1_024);
    let another = SessionKey::new(2);
    let change = |streams: &mut Streams, media| {
        let body = json!({"streams": [{"name": "sound", "media": media}]});
        ask(streams, PUBLISHER, "declare", &body).1.change.entered
    };
    assert!(change(&mut streams, "audio/pcm").is_empty(), "it has declared it before");
    let mut again = Streams::new(streams.catalog().clone(), 2);
    for session in [PUBLISHER, another] {
        again.restore(session, "", &std::iter::once(0..u32::MAX).collect());
    }
    assert_eq!(
        ask(&mut again, SessionKey::new(3), "list", &json!({})).0["streams"][0]["live"],
        false
    );
    let chunk = Publish::new("sound", b"noise");
    let messages = again.push(PUBLISHER, index, &chunk, 5).unwrap().messages;
    assert_eq!(events(&messages), ["\"live\""]);
    assert_eq!(change(&mut again, "video/h264"), set(index), "the journal records another stream");
    assert!(again.push(another, index, &chunk, 5).is_err(), "it declared another one");
    again.push(PUBLISHER, index, &chunk, 5).unwrap();
}

#[test]
fn a_client_that_is_away_does_not_stop_others_from_changing_the_media_type() {
    let mut streams = streams();
    let index = declare(&mut streams, "sound", 1_024);
    let chunk = Publish::new("sound", b"noise");
    streams.leave(PUBLISHER, true, ClockReading::default());
    let (_, outcome) = ask(&mut streams, SessionKey::new(2), "declare", &one("sound"));
    assert_eq!((outcome.refused, outcome.change.live), (None, set(index)));
    streams.push(PUBLISHER, index, &chunk, 5).expect("its own, as before");
    streams.leave(PUBLISHER, true, ClockReading::default());
    let other = json!({"streams": [{"name": "sound", "media": "video/h264"}]});
    assert_eq!(ask(&mut streams, SessionKey::new(2), "declare", &other).1.refused, None);
    let refused = streams.push(PUBLISHER, index, &chunk, 5).unwrap_err();
    assert!(matches!(refused, ChunkRefused::NotDeclared { .. }));
    assert_eq!(
        ask(&mut streams, SessionKey::new(3), "remove", &json!({"names": ["sound"]})).0["error"],
        "published"
    );
}

#[test]
fn a_reader_gets_streams_that_are_declared_later_and_no_removed_ones() {
    let mut streams = streams();
    follow(&mut streams, 9, "a/#", true);
    let index = declare(&mut streams, "a/sound", 1_024);
    push(&mut streams, index, 0, 10);
    push(&mut streams, index, 1, 10);
    let (served, got) = take(&mut streams, 9, 1);
    assert_eq!((served.chunks, served.has_more, got[0].sequence), (1, true, 0));
    streams.remove(PUBLISHER, &["a/sound".to_owned()]).unwrap();
    assert_eq!(take(&mut streams, 9, ANY_BYTES).0.chunks, 0);
    let again = declare(&mut streams, "a/sound", 1_024);
    assert_eq!(again, index.next());
    push(&mut streams, again, 0, 10);
    assert_eq!(take(&mut streams, 9, ANY_BYTES).1[0].sequence, 0);
}

#[test]
fn a_chunk_that_is_too_large_for_a_reader_is_a_gap_in_its_sequence() {
    let mut streams = streams();
    let index = declare(&mut streams, "sound", 4_096);
    streams.follow(SessionKey::new(9), &selection("sound", 0, false, 200));
    for (number, bytes) in [10, 1_000, 10].into_iter().enumerate() {
        push(&mut streams, index, number as u64, bytes);
    }
    let (served, got) = take(&mut streams, 9, ANY_BYTES);
    assert_eq!((served.chunks, served.lost), (2, 1));
    assert_eq!(got.iter().map(|got| got.sequence).collect::<Vec<_>>(), [0, 2]);
}

#[test]
fn a_chunk_that_does_not_fit_now_is_sent_later_without_a_gap() {
    let mut streams = streams();
    let index = declare(&mut streams, "sound", 4_096);
    follow(&mut streams, 9, "sound", false);
    for number in 0..3 {
        push(&mut streams, index, number, 1_000);
    }
    let room = |most| ChunkBudget { bytes: 1_500, most };
    let (served, got) = take_at_most(&mut streams, 9, room(900));
    assert_eq!((served.has_more, served.lost, got.len()), (true, 0, 0));
    let (served, got) = take_at_most(&mut streams, 9, room(1_900));
    assert_eq!((served.has_more, served.chunks, got[0].sequence), (true, 1, 0));
    let (served, got) = take_at_most(&mut streams, 9, room(2_900));
    assert_eq!((served.has_more, served.chunks, got[1].sequence), (false, 2, 2));
}
