"""The collector, with the CPU of each stage of its ticks counted: run as `tidscope_collector` is.

It wraps the functions that make up a tick and writes what they took to the file that the variable
STAGES names, as JSON, when it ends. Nested stages count for themselves only.
"""

import json
import os
import sys
import threading
import time
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

from tidscope_collector import __main__ as collector
from tidscope_collector.discovery.task_folder import TaskFolder
from tidscope_collector.discovery.task_iterator import TaskIterator
from tidscope_collector.netacct.accounts import Accounts
from tidscope_collector.sampling.engine import Engine
from tidscope_collector.sampling.frame_maker import FrameMaker
from tidscope_collector.sampling.health import HealthNow
from tidscope_collector.sampling.idle_skipping import IdleSkippingReader
from tidscope_collector.sampling.steady_reader import SteadyReader
from tidscope_collector.sampling.table_changes import TableChanges
from tidscope_collector.sampling.target import TargetSampler
from tidscope_collector.sampling.tracker import Tracker
from tidscope_collector.sampling.usual_tick import UsualTick
from tidscope_collector.taskstats.reader import BatchQuery, TaskstatsReader
from tidscope_collector.uplink.connection import Uplink
from tidscope_collector.uplink.direct import SharedConnection
from tidscope_collector.waits.joined_reader import LedgerReader
from tidscope_collector.waits.ledger import LedgerKeeper
from tidscope_collector.walk.reader import WalkReader
from tidscope_wire.frame import RowEncoder
from tidscope_wire.header_writer import HeaderWriter

spent_ns: dict[str, int] = {}
calls: dict[str, int] = {}
_nested: list[int] = []
settled = threading.Event()
SETTLED = 20
"""Number of initial frames left out of the sums."""


def stage(owner: object, function: str, name: str) -> None:
    """Count the CPU of a function under a name, that of stages inside it left out."""
    inner: Callable[..., Any] = getattr(owner, function)

    @wraps(inner)
    def counted(*arguments: Any, **named: Any) -> Any:
        _nested.append(0)
        began = time.thread_time_ns()
        result: Any = ()
        try:
            result = inner(*arguments, **named)
        finally:
            took = time.thread_time_ns() - began
            spent_ns[name] = spent_ns.get(name, 0) + took - _nested.pop()
            calls[name] = calls.get(name, 0) + 1
            if name == "round":
                calls["uplink"] = calls.get("uplink", 0) + len(result)
            if calls.get("uplink", 0) >= SETTLED and not settled.is_set():
                settled.set()
                spent_ns.clear()
                calls.clear()
            if _nested:
                _nested[-1] += took
        return result

    setattr(owner, function, counted)


STAGES = (
    (Engine, "_step", "tick"),
    (Engine, "_usual", "usual tick"),
    (TargetSampler, "usual", "usual sample"),
    (UsualTick, "take", "usual sample"),
    (UsualTick, "arm", "prepare"),
    (TargetSampler, "_arm", "prepare"),
    (FrameMaker, "usual", "frame"),
    (SharedConnection, "send_now", "send"),
    (UsualTick, "take_round", "round"),
    (Uplink, "_take_in", "take in"),
    (Uplink, "_confirm", "take in"),
    (Engine, "_drain", "exits"),
    (Engine, "_account", "once a second"),
    (HealthNow, "read", "health"),
    (TaskIterator, "list_threads", "list"),
    (TaskFolder, "list_threads", "list"),
    (BatchQuery, "query", "query"),
    (TaskstatsReader, "decode", "decode"),
    (IdleSkippingReader, "read", "merge"),
    (SteadyReader, "read", "steady sample"),
    (Accounts, "live", "network"),
    (Tracker, "update", "diff"),
    (Tracker, "all_rows", "diff"),
    (Tracker, "roles", "roles"),
    (RowEncoder, "encode", "encode"),
    (FrameMaker, "sample", "frame"),
    (HeaderWriter, "write", "header"),
    (FrameMaker, "_frame", "header"),
    (WalkReader, "read", "walk"),
    (LedgerReader, "read", "ledgers"),
    (LedgerKeeper, "read", "ledgers"),
    (LedgerKeeper, "exited", "ledgers"),
    (TableChanges, "work", "tables"),
    (TableChanges, "next", "tables"),
    (TargetSampler, "read", "process"),
    (TargetSampler, "_watch_program", "program"),
    (Uplink, "add_frame", "uplink"),
)


def main() -> int:
    """Run the collector."""
    for owner, function, name in STAGES:
        stage(owner, function, name)
    # Opened now: once it has confined itself, the collector opens no file of ours.
    with Path(os.environ["STAGES"]).open("w") as stages:
        try:
            return collector.main()
        finally:
            json.dump({"spent_ns": spent_ns, "calls": calls}, stages)


if __name__ == "__main__":
    sys.exit(main())
