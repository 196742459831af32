"""Starts the parts of a broker: folders, keys of tokens, listeners and the engine."""

import logging
import os
from collections.abc import Callable
from pathlib import Path

from slipring.control.audit import audit_folder
from slipring.control.config import Config
from slipring.control.folder import make_private, open_to_others
from slipring.control.listener import ListenerSection
from slipring.control.stand_in_key import make_key
from slipring.control.tokens import Tokens
from slipring.errors import ConfigError, ListenError, SecretError, StartError, TokenError
from slipring.native import Engine, Listener, Plan, TokenRules, check_secret_file

LISTENER_KEYS = {
    "websocket", "origins", "certificate", "key", "client_ca", "client_certificates", "client_name",
    "client_crl",
}  # fmt: skip
"""What the engine needs of a listener, beside its name and address."""

log: logging.Logger = logging.getLogger("slipring.broker")


def start_tokens(config: Config, apply: Callable[[TokenRules], None]) -> Tokens:
    """Read the keys of tokens; StartError says why not."""
    try:
        return Tokens(config, apply)
    except TokenError as error:
        raise StartError(str(error)) from None


def make_stand_in_key(config: Config) -> None:
    """Make the key of stand-ins for unknown names, if there are users; StartError says why not."""
    if not config.has_users:
        return
    try:
        make_private(config.data)
        make_key(config.data)
    except OSError as error:
        log.warning("no key of stand-ins for unknown names: %s; each start makes one", error)
    except ConfigError as error:
        raise StartError(str(error)) from None


def start_engine(config: Config, plan: Plan, journal: Path | None) -> Engine:
    """Listen, and open the journal and the audit; StartError says why not."""
    if config.console.oidc.client_secret_file is not None:
        _refuse_open(config.console.oidc.client_secret_file, "console.oidc")
    make_audit_folder(config)
    try:
        return Engine(
            plan,
            listeners=[_listener(section) for section in config.listeners],
            journal=journal,
            segment_bytes=config.journal.segment_bytes,
            threads=config.threads or _processors_to_take(),
            console_connections=config.console.connections,
            audit=(audit_folder(config.data), config.audit.segment_bytes),
        )
    except ListenError as error:
        raise StartError(
            f"{error}; choose another address with --mqtt HOST:PORT or in the config file"
        ) from None


def _processors_to_take() -> int:
    """All but one, which is for the control plane, the console and the system."""
    return max(1, len(os.sched_getaffinity(0)) - 1)


def _listener(section: ListenerSection) -> Listener:
    if section.key is not None and section.key.exists():
        _refuse_open(section.key, f"listener '{section.name}'")
    return Listener(section.name, section.listen, **section.model_dump(include=LISTENER_KEYS))


def _refuse_open(file: Path, what: str) -> None:
    try:
        check_secret_file(file)
    except SecretError as error:
        raise StartError(f"{what}: {error}") from None


def make_audit_folder(config: Config) -> None:
    """Make the data folder, if an audit is kept in it."""
    if config.audit.is_kept(has_users=config.has_users):
        try:
            make_private(config.data)
        except OSError as error:
            raise _unmade(config.data, error) from None


def _unmade(folder: Path, error: OSError) -> StartError:
    return StartError(
        f"cannot make the folder {folder}: {error.strerror}; name one you can write with --data DIR"
    )


def journal_folder(config: Config) -> Path | None:
    """Make the folder of the journal; None if nothing is journaled."""
    if not config.journal.topics:
        return None
    folder = config.data / "journal"
    try:
        make_private(config.data)
        make_private(folder)
        told = open_to_others(config.data)
    except OSError as error:
        raise _unmade(folder, error) from None
    if told is not None:
        log.warning(told)
    return folder
