//! The journal read over the network from a real broker, beside the same journal read from its folder.

use std::collections::HashMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{env, fs, process, thread};

use slipring_core::access::{AccessPolicy, AccessRule};
use slipring_core::{Authentication, Limits, Plan, Users, Verifier};
use slipring_engine::{Engine, Event, EventKind, ListenerSettings, Settings};
use slipring_journal::{
    Batch, Journal, JournalIdentity, JournalOptions, JournalReader, MessageColumns, MessageFlags,
    RefusalReason, consumers,
};
use slipring_remote::{RemoteError, RemoteJournal};

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = env::temp_dir().join(format!("slipring-remote-{name}-{}", process::id()));
        let _ = fs::remove_dir_all(&path);
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Appends messages of all sizes, the largest above what one answer usually holds.
fn write(folder: &Path, count: u32) {
    let options = JournalOptions { segment_bytes: 1 << 20, ..JournalOptions::default() };
    let (journal, _) = Journal::open(folder, options, |_| ()).unwrap();
    let mut batch = Batch::new();
    for number in 0..count {
        if number % 7 == 0 {
            journal.append_waiting(&mut batch, false).unwrap();
            batch.begin("pump", i64::from(number));
        }
        let size = if number % 500 == 499 { 3 << 20 } else { number as usize % 5000 };
        batch.push(MessageFlags::new(0, false), "a/b", b"", &vec![number as u8; size]);
        batch.records().extend_from_slice(b"nobody's business");
    }
    journal.append_waiting(&mut batch, false).unwrap();
    journal.close().unwrap();
}

fn start(folder: Option<&Path>, listen: &str, plan: Plan) -> Engine {
    let settings = Settings {
        audit: None,
        listeners: vec![ListenerSettings::tcp("mqtt", listen)],
        journal: folder.map(Into::into),
        segment_bytes: 1 << 20,
        threads: 2,
        console_connections: 0,
    };
    Engine::start(&settings, plan).unwrap()
}

fn open(engine: &Engine) -> Result<RemoteJournal, RemoteError> {
    let address = format!("mqtt://{}", engine.address()).parse().unwrap();
    RemoteJournal::open(address, slipring_remote::RemoteOptions::default(), None)
}

fn refusal(error: RemoteError) -> (RefusalReason, [u64; 2], String) {
    match error {
        RemoteError::Refused(refusal) => (refusal.why, refusal.numbers, refusal.text),
        other => panic!("not a refusal: {other}"),
    }
}

#[test]
fn every_range_is_the_same_as_in_the_folder() {
    let folder = Folder::new("same");
    write(&folder.0, 2000);
    let engine = start(Some(&folder.0), "127.0.0.1:0", Plan::default());
    let (mut here, mut there) = (JournalReader::open(&folder.0).unwrap(), open(&engine).unwrap());
    assert_eq!(there.identity(), here.identity());
    let end = here.end_offset().unwrap();
    assert_eq!((there.first_offset(), there.end_offset().unwrap()), (0, end));
    for ns in [-1, 0, 700, 1400, 3000] {
        assert_eq!(there.offset_at(ns).unwrap(), here.offset_at(ns).unwrap());
    }
    for (range, bytes_max) in
        [(0..end, 1 << 28), (3..4, 1), (1000..1900, 100_000), (499..500, 10), (7..7, 1), (0..9, 0)]
    {
        let (mut from, mut to) = (range.start, range.start);
        while from < range.end {
            let local = here.read(from..range.end, bytes_max).unwrap();
            let remote = there.read(from..range.end, bytes_max).unwrap();
            assert!(remote == local, "{from} of {range:?}");
            (from, to) = (local.end, remote.end);
        }
        assert_eq!(to, range.end);
    }
}

#[test]
fn a_range_beyond_the_end_is_refused_with_the_numbers() {
    let folder = Folder::new("beyond");
    write(&folder.0, 50);
    let engine = start(Some(&folder.0), "127.0.0.1:0", Plan::default());
    let mut journal = open(&engine).unwrap();
    let (why, numbers, text) = refusal(journal.read(40..51, 100).unwrap_err());
    assert_eq!((why, numbers), (RefusalReason::Beyond, [51, 50]));
    assert!(
        text.contains("offset 51 was asked for, but the journal is synced up to 50 only"),
        "{text}"
    );
    assert_eq!(journal.read(40..50, 1 << 20).unwrap().len(), 10, "the connection still works");
    let no_journal = start(None, "127.0.0.1:0", Plan::default());
    assert_eq!(refusal(open(&no_journal).err().unwrap()).0, RefusalReason::NoJournal);
}

#[test]
fn a_damaged_batch_is_named_and_the_rest_is_read() {
    let folder = Folder::new("damage");
    write(&folder.0, 50);
    let segment = folder.0.join(format!("{:020}.seg", 0));
    let mut bytes = fs::read(&segment).unwrap();
    bytes[64 + 44 + 20] ^= 1;
    fs::write(&segment, bytes).unwrap();
    let engine = start(Some(&folder.0), "127.0.0.1:0", Plan::default());
    let mut journal = open(&engine).unwrap();
    let (why, numbers, _) = refusal(journal.read(0..50, 1 << 20).unwrap_err());
    assert_eq!((why, numbers), (RefusalReason::Damaged, [0, 7]));
    assert_eq!(journal.read(7..50, 1 << 20).unwrap().len(), 43);
}

#[test]
fn a_message_larger_than_an_answer_may_be_is_named() {
    let folder = Folder::new("large");
    write(&folder.0, 500);
    let limits = Limits { outbox_bytes: 1 << 20, ..Limits::default() };
    let engine = start(Some(&folder.0), "127.0.0.1:0", Plan { limits, ..Plan::default() });
    let mut journal = open(&engine).unwrap();
    assert_eq!(journal.read(400..499, 1 << 28).unwrap().end, 499);
    let (why, [offset, needed], text) = refusal(journal.read(490..500, 1 << 28).unwrap_err());
    assert_eq!((why, offset), (RefusalReason::TooLarge, 499));
    assert!(needed > 3 << 20 && text.contains("limits.outbox_bytes"), "{text}");
}

/// Rules by which only the user `lake` reads the journal.
fn lake_reads() -> Arc<AccessPolicy> {
    let rule = AccessRule::parse(&["user:lake"], true, &["journal"], &["#"]).unwrap();
    Arc::new(AccessPolicy::enforced(vec![rule], HashMap::new()))
}

#[test]
fn only_a_user_with_the_right_reads_the_journal() {
    let folder = Folder::new("users");
    write(&folder.0, 10);
    let verifier = || Verifier::new(b"pencil", b"salt of 16 bytes", 4096).unwrap();
    let users = Users::new([("lake".into(), verifier()), ("pump".into(), verifier())]).unwrap();
    let authentication = Authentication { users, anonymous: true, ..Authentication::default() };
    let plan = Plan { authentication, access: lake_reads(), ..Plan::default() };
    let engine = start(Some(&folder.0), "127.0.0.1:0", plan);
    let open = |user: Option<&str>, password: &str| {
        let password = user.map(|_| password.as_bytes().to_vec());
        let credentials = slipring_protocol::Credentials {
            user: user.map(str::to_owned),
            password: password.map(Into::into),
            ..Default::default()
        };
        let options = slipring_remote::RemoteOptions { credentials, ..Default::default() };
        let address = format!("mqtt://{}", engine.address()).parse().unwrap();
        RemoteJournal::open(address, options, None)
    };
    assert_eq!(open(Some("lake"), "pencil").unwrap().end_offset().unwrap(), 10);
    for other in [Some("pump"), None] {
        let (why, _, text) = refusal(open(other, "pencil").err().unwrap());
        assert_eq!(why, RefusalReason::NotAllowed);
        assert!(text.contains("the right `journal`"), "{text}");
    }
    let wrong = open(Some("lake"), "eraser").err().unwrap().to_string();
    assert!(wrong.contains("bad user name or password"), "{wrong}");
}

/// A plan with one user, `lake`, who has this password.
fn lake_with(password: &[u8]) -> Plan {
    let verifier = Verifier::new(password, b"salt of 16 bytes", 4096).unwrap();
    let users = Users::new([("lake".into(), verifier)]).unwrap();
    let authentication = Authentication { users, anonymous: false, ..Authentication::default() };
    Plan { authentication, access: lake_reads(), ..Plan::default() }
}

#[test]
fn a_reader_whose_token_is_refused_waits_until_its_file_has_another_one() {
    let folder = Folder::new("renewed");
    write(&folder.0, 10);
    let engine = start(Some(&folder.0), "127.0.0.1:0", lake_with(b"first"));
    let file = folder.0.join("token");
    let put = move |token: &str| {
        let next = file.with_extension("next");
        fs::write(&next, token).unwrap();
        fs::set_permissions(&next, fs::Permissions::from_mode(0o600)).unwrap();
        fs::rename(&next, &file).unwrap();
        file.clone()
    };
    let credentials = slipring_protocol::Credentials {
        user: Some("lake".into()),
        renewed: true,
        ..Default::default()
    };
    let options = slipring_remote::RemoteOptions {
        credentials,
        token_file: Some(put("first")),
        ..Default::default()
    };
    let address = format!("mqtt://{}", engine.address()).parse().unwrap();
    let mut journal = RemoteJournal::open(address, options, None).unwrap();
    engine.apply(lake_with(b"second")); // ends the connection
    let reading = thread::spawn(move || journal.end_offset());
    let until = Instant::now() + Duration::from_secs(60);
    let refused = |event: &Event| event.kind == EventKind::AuthenticationRefused;
    while !engine.take_events().events.iter().any(refused) && Instant::now() < until {}
    put("second");
    assert_eq!(reading.join().unwrap().unwrap(), 10);
}

#[test]
fn a_name_given_before_there_were_users_is_no_proof() {
    let folder = Folder::new("late");
    write(&folder.0, 10);
    let engine = start(Some(&folder.0), "127.0.0.1:0", Plan::default());
    let credentials =
        slipring_protocol::Credentials { user: Some("lake".into()), ..Default::default() };
    let options = slipring_remote::RemoteOptions { credentials, ..Default::default() };
    let address = format!("mqtt://{}", engine.address()).parse().unwrap();
    let mut journal = RemoteJournal::open(address, options, None).unwrap();
    let verifier = Verifier::new(b"pencil", b"salt of 16 bytes", 4096).unwrap();
    let users = Users::new([("lake".into(), verifier)]).unwrap();
    let authentication = Authentication { users, anonymous: false, ..Authentication::default() };
    engine.apply(Plan { authentication, access: lake_reads(), ..Plan::default() });
    // Its connection is closed, too: either comes first.
    match journal.end_offset().unwrap_err() {
        RemoteError::Refused(refused) => assert_eq!(refused.why, RefusalReason::NotAllowed),
        closed => assert!(closed.to_string().contains("0x87"), "{closed}"),
    }
}

#[test]
fn reading_resumes_when_the_broker_is_back() {
    let folder = Folder::new("again");
    write(&folder.0, 2000);
    let engine = start(Some(&folder.0), "127.0.0.1:0", Plan::default());
    let (listen, mut journal) = (engine.address().to_string(), open(&engine).unwrap());
    let mut columns = journal.read(0..2000, 5_000_000).unwrap();
    let mut seen = columns.offset;
    engine.stop().unwrap();
    drop(engine);
    let path = folder.0.clone();
    let back = thread::spawn(move || start(Some(&path), &listen, Plan::default()));
    while columns.end < 2000 {
        columns = journal.read(columns.end..2000, 5_000_000).unwrap();
        seen.extend(&columns.offset);
    }
    assert_eq!(seen, (0..2000).collect::<Vec<i64>>());
    drop(back.join().unwrap());
}

#[test]
fn another_journal_in_its_place_is_refused() {
    let (one, other) = (Folder::new("one"), Folder::new("other"));
    write(&one.0, 20);
    write(&other.0, 20);
    let engine = start(Some(&one.0), "127.0.0.1:0", Plan::default());
    let (listen, mut journal) = (engine.address().to_string(), open(&engine).unwrap());
    drop(engine);
    let _engine = start(Some(&other.0), &listen, Plan::default());
    let error = journal.read(0..20, 100).unwrap_err();
    assert!(matches!(error, RemoteError::OtherJournal { .. }), "{error}");
    let address = format!("mqtt://{listen}").parse().unwrap();
    let options = slipring_remote::RemoteOptions::default();
    let error = RemoteJournal::open(address, options, Some(journal.identity())).err().unwrap();
    assert!(matches!(error, RemoteError::OtherJournal { .. }), "{error}");
}

#[test]
fn the_broker_commits_a_consumers_position() {
    let folder = Folder::new("consumer");
    write(&folder.0, 20);
    let engine = start(Some(&folder.0), "127.0.0.1:0", Plan::default());
    let mut journal = open(&engine).unwrap();
    journal.commit("lake", 12, Some(journal.epoch()), "a note").unwrap();
    let noted = consumers::list(&folder.0).unwrap();
    let position = noted[0].position.unwrap();
    assert_eq!((noted[0].name.as_str(), position.offset), ("lake", 12));
    assert_eq!(noted[0].note, "a note");
    assert_eq!(position.journal, journal.identity());
    for (name, offset) in [("../lake", 1), ("", 1), ("lake", 21)] {
        assert!(
            matches!(journal.commit(name, offset, None, ""), Err(RemoteError::Refused(_))),
            "{name}"
        );
    }
    assert_eq!(consumers::list(&folder.0).unwrap().len(), 1);
}

#[test]
fn four_readers_at_once_get_what_one_gets() {
    let folder = Folder::new("four");
    write(&folder.0, 2000);
    let engine = start(Some(&folder.0), "127.0.0.1:0", Plan::default());
    let read = |start: u64| -> MessageColumns {
        open(&engine).unwrap().read(start..start + 500, usize::MAX).unwrap()
    };
    let parts: Vec<MessageColumns> = thread::scope(|scope| {
        let readers: Vec<_> = (0..4).map(|part| scope.spawn(move || read(part * 500))).collect();
        readers.into_iter().map(|reader| reader.join().unwrap()).collect()
    });
    let mut here = JournalReader::open(&folder.0).unwrap();
    for (part, start) in parts.iter().zip([0, 500, 1000, 1500]) {
        assert!(*part == here.read(start..start + 500, usize::MAX).unwrap());
    }
}

#[test]
fn an_unreachable_broker_is_an_error_at_once_unless_its_journal_was_read_before() {
    let options = || slipring_remote::RemoteOptions {
        patience: Duration::from_millis(100),
        ..slipring_remote::RemoteOptions::default()
    };
    for expected in [None, Some(JournalIdentity([1; 16]))] {
        let address = "mqtt://127.0.0.1:1".parse().unwrap();
        let error = RemoteJournal::open(address, options(), expected).err().unwrap();
        assert!(error.to_string().contains("connection refused"), "{error}");
    }
}
