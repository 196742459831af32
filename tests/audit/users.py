"""A config with users and rules, for tests of the audit."""

from slipring.control.users import verifier_of

SECRET = "a long secret word"
PASSWORD = SECRET.encode()
VERIFIER = verifier_of(SECRET, 4_096)
USERS = f"""
[[user]]
name = "anna"
password = "{VERIFIER}"

[[user]]
name = "root"
password = "{VERIFIER}"
roles = ["administrator"]

[[access.rule]]
who = ["user:anna"]
allow = ["publish", "subscribe", "select", "declare", "journal"]
topics = ["plant/#"]
"""
