"""Programs of several processes with one known fault each, and how they are started."""

import os
import socket
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from incident import HERE, Incident
from incident_places import ended, listens, quiet, wait_until

GUNICORN = HERE.parents[1] / ".cache" / "gunicorn" / "usr" / "lib" / "python3" / "dist-packages"
PROGRAMS = (sys.executable, str(HERE / "processes.py"))


@contextmanager
def gunicorn(_program: Sequence[str], fault: bool, folder: Path) -> Iterator[int]:
    """Three workers of gunicorn, and twelve clients, or one, of a page that takes 0.3 s."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    paths = {"PYTHONPATH": f"{GUNICORN}:{HERE}"}
    words = ("python3", "-m", "gunicorn.app.wsgiapp", "-w", "3", "-b", f"127.0.0.1:{port}")
    clients = "12" if fault else "1"
    asks = ("wrk", "-t", "1", "-c", clients, "-d", "3600", f"http://127.0.0.1:{port}/")
    with ended(quiet((*words, "slow_app:application"), folder, {**os.environ, **paths})) as server:
        wait_until(partial(listens, port), "gunicorn")
        with ended(quiet(asks, folder)):
            yield server.pid


PROCESSES: tuple[Incident, ...] = (
    Incident(
        "gunicorn-workers",
        "three workers that take a connection at a time, and twelve clients",
        (),
        right=r"wait to be accepted.*python3?|(gunicorn|python3?).*(busy all the time|queue)",
        symptom=r"gunicorn|python3?|worker",
        misleading=r"were idle|one lock|each other|finds nothing",
        place=gunicorn,
        tree=True,
        needs=("wrk",),
    ),
    Incident(
        "sqlite-writers",
        "six processes write to one SQLite file, one at a time, and look for its lock by timers",
        (*PROGRAMS, "sqlite-writers"),
        right=r"bookkeeper.*(lock|one at a time|each other)",
        symptom=r"bookkeeper",
        misleading=r"were idle|disk|finds nothing",
        tree=True,
    ),
    Incident(
        "python-full-pipe",
        "four processes send to one that computes, over a pipe that is full",
        (*PROGRAMS, "full-pipe"),
        right=r"compressor.*(runs|pipe|wait for it)|loader.*pipe.*compressor",
        symptom=r"loader|compressor",
        misleading=r"were idle",
        tree=True,
    ),
)
