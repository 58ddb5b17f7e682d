"""`python -m tidscope_backend.fleet.answering` answers questions about many hosts.

DuckDB and PyIceberg need a core and hundreds of megabytes for a question, so they are not loaded
into the backend. Standard input has questions, standard output their answers, one after another:
each a length of 4 bytes and that many bytes of JSON. A question's rows in memory follow it in the
same form, as an Arrow stream.
"""

import json
import resource
import struct
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import pyarrow as pa
from tidscope_wire.generated.models import FleetHost, FleetHosts

from tidscope_backend.fleet.queries import connect
from tidscope_backend.fleet.questions import across, compare, wall
from tidscope_backend.fleet.role_table import NoTableError
from tidscope_backend.fleet.steps import Chosen, Window

if TYPE_CHECKING:
    import duckdb

MEMORY = "1GB"
"""Bound on DuckDB's memory."""
DATA_BYTES = 4 << 30
"""Bound on private memory of the process."""
LENGTH = struct.Struct(">I")
NO_ROWS = "No row is on disk yet: the first ones come after a minute."


def main() -> None:
    """Answer questions until the input ends."""
    resource.setrlimit(resource.RLIMIT_DATA, (DATA_BYTES, DATA_BYTES))
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    while (question := _read(source)) is not None:
        rows = _read(source) or b""
        try:
            reply = {"answer": answer(json.loads(question), rows)}
        except Exception as error:
            # The text may have paths, so only the log has it.
            print(f"a question about hosts failed: {error!r}", file=sys.stderr, flush=True)
            reply = {"failed": type(error).__name__}
        text = json.dumps(reply).encode()
        sink.write(LENGTH.pack(len(text)) + text)
        sink.flush()


def answer(question: Mapping[str, Any], recent: bytes) -> str:
    """Return the answer to a question, as JSON.

    Args:
        question: its name and arguments (asking.py).
        recent: rows in memory, as an Arrow stream.
    """
    window = Window(question["from_us"], question["to_us"])
    chosen = Chosen(question.get("program"), question.get("role"))
    folder = question["folder"]
    with opened(None if folder is None else Path(folder), recent, window) as (database, note):
        answers: Mapping[str, Callable[[], Any]] = {
            "wall": lambda: _with_live(
                wall(database, window), question["live"], kept=question["kept"]
            ),
            "across": lambda: across(database, window, chosen, question["counter"]),
            "compare": lambda: compare(
                database, window, chosen, question["first"], question["other"]
            ),
        }
        found = answers[question["name"]]()
    note = note or question["wrong_clocks"]
    text: str = found.model_copy(update={"note": note}).model_dump_json()
    return text


@contextmanager
def opened(
    folder: Path | None, recent: bytes, window: Window
) -> "Iterator[tuple[duckdb.DuckDBPyConnection, str | None]]":
    """Open a database with the view `roles` of rows on disk and in memory.

    Args:
        folder: folder of the table; None if none is kept.
        recent: rows in memory, as an Arrow stream.
        window: the window in question; rows outside may be absent.

    Yields:
        The database, and why rows on disk are absent, or None.
    """
    import duckdb

    note, kept = None, None
    if folder is not None and folder.exists():
        try:
            kept = connect(folder, (_time(window.from_us), _time(window.to_us)))
        except NoTableError:
            note = NO_ROWS
    rows = pa.ipc.open_stream(recent).read_all()
    with kept or duckdb.connect() as database:
        database.execute("set timezone = 'UTC'")
        database.execute(f"set memory_limit = '{MEMORY}'")
        database.execute("set threads = 2")
        database.register("recent", rows)
        if kept is None:
            database.execute("create temp view roles as select * from recent")
        else:
            database.execute("alter view roles rename to kept")
            database.execute(
                "create temp view roles as "
                "select * from kept union all by name select * from recent"
            )
        yield database, note


def _time(unix_us: int) -> datetime:
    return datetime.fromtimestamp(unix_us / 1e6, UTC)


def _with_live(found: FleetHosts, live: Mapping[str, Any], *, kept: bool) -> FleetHosts:
    """Add what the backend knows of hosts whose collectors are connected."""
    hosts = [
        one.model_copy(update=live[one.host]) if one.host in live else one for one in found.hosts
    ]
    known = {one.host for one in hosts}
    steps = len(hosts[0].cores) if hosts else 0
    for host, facts in live.items():
        if host not in known:
            hosts.append(
                FleetHost(host=host, threads=0, states=[], cores=[None] * steps, roles=[], **facts)
            )
    return found.model_copy(update={"hosts": hosts, "kept": kept})


def _read(source: BinaryIO) -> bytes | None:
    """Return the next message, or None at the end."""
    head = source.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    return source.read(LENGTH.unpack(head)[0])


if __name__ == "__main__":
    main()
