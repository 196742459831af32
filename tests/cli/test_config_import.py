"""`slipring config import`: real files of Mosquitto, and a broker that runs with the result."""

import shutil
import subprocess
from pathlib import Path

from tests.cli.commands import command, refused, slipring
from tests.running_broker import RunningBroker, kept_address

DEBIAN = Path("/etc/mosquitto/mosquitto.conf")
CREATE = shutil.which("mosquitto_passwd") or "/usr/bin/mosquitto_passwd"


def test_the_file_of_debians_package_is_taken_over(tmp_path: Path) -> None:
    done = slipring("config", "import", DEBIAN)
    file = tmp_path / "broker.toml"
    file.write_text(done.stdout)
    assert slipring("config", "--check", file).stdout == f"{file} is fine\n"
    told = done.stderr.splitlines()
    assert [line.split(": ")[1] for line in told] == [
        "pid_file",
        "persistence_location",
        "log_dest",
    ]


def test_a_broker_serves_what_was_taken_over_with_users_and_rules(tmp_path: Path) -> None:
    passwords = tmp_path / "passwd"
    subprocess.run([CREATE, "-c", "-b", passwords, "anna", "secret"], check=True)
    (tmp_path / "acl").write_text("user anna\ntopic readwrite gripen/#\n")
    (tmp_path / "conf.d").mkdir()
    with kept_address() as address:
        host, _, port = address.rpartition(":")
        (tmp_path / "conf.d" / "listen.conf").write_text(f"listener {port} {host}\n")
        conf = tmp_path / "mosquitto.conf"
        conf.write_text("include_dir conf.d\npassword_file passwd\nacl_file acl\n")
        made = slipring("config", "import", conf)
        assert "the password of 'anna' is not taken over: a PBKDF2-SHA512 hash" in made.stderr
        line = subprocess.run(
            command("password"), input="fly\n", capture_output=True, text=True, check=True
        ).stdout
        config = tmp_path / "broker.toml"
        config.write_text(with_password(made.stdout, line))
        running = RunningBroker.start(tmp_path / "data", "--config", str(config), "--mqtt", "off")
        try:
            (tmp_path / "fly").write_text("fly\n")
            (tmp_path / "fly").chmod(0o600)
            who = ("--user", "anna", "--password-file", str(tmp_path / "fly"), "--qos", "1")
            reach = ("--url", f"mqtt://{address}")
            slipring("pub", *reach, *who, "gripen/39-7/engine/rpm", "5800")
            assert "not authorized" in refused("pub", *reach, *who, "plant/1", "5800").lower()
        finally:
            code, errors = running.stop()
        assert code == 0, errors


def with_password(config: str, line: str) -> str:
    """The config with the line of `slipring password` in place of the one that nobody knows."""
    lines = config.splitlines(keepends=True)
    return "".join(line if one.startswith("password = ") else one for one in lines)


def test_what_is_no_file_is_one_line(tmp_path: Path) -> None:
    assert "No such file" in refused("config", "import", tmp_path / "gone.conf")
