r"""What a process does, by the title that it writes over its arguments. Pure.

Programs with one thread a process say there what they are at: `postgres: app shop 10.0.0.7(40112)
UPDATE waiting`, `nginx: worker process`. A title is one argument with blanks in it, and nothing but
NUL bytes behind (setproctitle of BSD, src/backend/utils/misc/ps_status.c of PostgreSQL).
"""

import re

from tidscope_wire.redaction import redact
from tidscope_wire.role import role_of

from tidscope_collector.inspection.questions import TITLE_BYTES

LONGEST_ROLE = 128

_BEGINNING = re.compile(r"[\w.+/@-]{1,64}: \S")
_CLUSTER = re.compile(r"(postgres(?:\[\d+\])?: )\S+: ")
_CLIENT = re.compile(r"postgres: \S+ \S+ (?:\[local\]|\S+\(\d+\)) (.+)")
_AUTOVACUUM = re.compile(r"postgres: (autovacuum worker) .+")
_POSITION = re.compile(r"\b(?:[0-9A-F]{24}|[0-9A-F]{1,8}/[0-9A-F]{1,8})\b")


def read_title(arguments: bytes) -> str | None:
    """The title in /proc/PID/cmdline, what looks like a secret left out; None: it is none."""
    text = arguments[:TITLE_BYTES].rstrip(b"\0 ")
    if b"\0" in text:
        return None
    title = text.decode("utf-8", "replace")
    return redact(title) if _BEGINNING.match(title) else None


def role_of_title(title: str) -> str:
    """What a process with a title does: the same for all that do the same.

    A server process of PostgreSQL does what its title ends with, whoever its client is; elsewhere
    only numbers are left out.
    """
    title = _CLUSTER.sub(r"\1", title, count=1)
    for pattern in (_CLIENT, _AUTOVACUUM):
        if found := pattern.fullmatch(title):
            title = f"postgres: {found[1]}"
            break
    return role_of(_POSITION.sub("#", title))[:LONGEST_ROLE]
