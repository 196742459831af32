"""Rules and users that were changed while running: kept whole, numbered, refused if damaged."""

from pathlib import Path

import pytest

from slipring.control.access_grants import AccessGrants, rule_of, user_of
from slipring.control.access_store import FILE, AccessStore
from slipring.control.users import EXAMPLE_VERIFIER
from slipring.errors import ConfigError

RULE = rule_of(["role:engineer"], ["a/#", "b/%u"], allow=["publish", "subscribe"])
DENIAL = rule_of(["user:anna"], ["a/1"], deny=["all"])
OTHER = EXAMPLE_VERIFIER.replace("4096", "8192")


def some() -> AccessGrants:
    grants, _ = AccessGrants().with_rule(RULE)
    grants, _ = grants.with_rule(DENIAL)
    return grants.with_user(user_of("anna", EXAMPLE_VERIFIER, ["engineer"]))


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    store = AccessStore(tmp_path / "data")
    assert store.read() == AccessGrants()
    store.write(some())
    assert AccessStore(tmp_path / "data").read() == some()
    assert store.file.stat().st_mode & 0o777 == 0o600
    assert [one.name for one in store.file.parent.iterdir()] == [FILE]


def test_a_number_is_never_given_twice() -> None:
    grants, first = AccessGrants().with_rule(RULE)
    grants, second = grants.without_rule(first).with_rule(RULE)
    assert (first, second) == ("granted:1", "granted:2")
    assert grants.version == 3


def test_the_same_rule_again_is_the_same_rule() -> None:
    grants, name = some().with_rule(RULE)
    assert (grants, name) == (some(), "granted:1")


def test_every_byte_matters(tmp_path: Path) -> None:
    """Cut anywhere, or with one byte changed, the file is refused or has the same content."""
    store = AccessStore(tmp_path)
    store.write(some())
    content = store.file.read_bytes()
    broken = [content[:length] for length in range(1, len(content), 7)]
    broken += [
        content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]
        for at in range(0, len(content), 5)
    ]
    refused = 0
    for bytes_ in (*broken, b""):
        store.file.write_bytes(bytes_)
        try:
            found = store.read()
        except ConfigError as error:
            refused += "is damaged" in str(error)
            continue
        assert (found.rules, found.users) == (some().rules, some().users)
    assert refused > len(broken) * 0.9


def test_a_file_that_others_can_open_is_refused_with_the_command_that_mends_it(
    tmp_path: Path,
) -> None:
    store = AccessStore(tmp_path)
    store.write(some())
    store.file.chmod(0o644)
    with pytest.raises(ConfigError, match=f"chmod 600 {store.file}"):
        store.read()


def test_a_store_that_another_program_changed_is_not_overwritten(tmp_path: Path) -> None:
    mine, others = AccessStore(tmp_path), AccessStore(tmp_path)
    mine.read()
    others.read()
    others.write(some())
    with pytest.raises(ConfigError, match="another program has changed"):
        mine.write(AccessGrants())
    assert AccessStore(tmp_path).read() == some()


def test_users_are_added_changed_and_removed() -> None:
    grants = some().with_changed_user("anna", verifier=OTHER)
    assert grants.users[0].password.get_secret_value() == OTHER
    assert grants.users[0].roles == ("engineer",)
    grants = grants.with_changed_user("anna", roles=[])
    assert grants.users[0].roles == ()
    assert grants.users[0].password.get_secret_value() == OTHER
    assert grants.without_user("anna").users == ()
    with pytest.raises(ConfigError, match="already"):
        grants.with_user(user_of("anna", OTHER, []))
    with pytest.raises(ConfigError, match="no user 'ben'"):
        grants.without_user("ben")
    with pytest.raises(ConfigError, match="no user 'ben'"):
        grants.with_changed_user("ben", roles=["x"])
    with pytest.raises(ConfigError, match="no rule 'toml:1'"):
        grants.without_rule("toml:1")
    with pytest.raises(ConfigError, match="control characters"):
        grants.with_changed_user("anna", roles=["\n"])


def test_no_text_about_the_grants_has_a_verifier() -> None:
    assert EXAMPLE_VERIFIER not in repr(some())
    with pytest.raises(ConfigError) as refused:
        user_of("anna", "SCRAM-SHA-256$nonsense", [])
    assert "nonsense" not in str(refused.value)
