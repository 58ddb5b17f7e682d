"""tidscope under a supervisor, whose parts can be found, killed, stopped and restarted."""

import json
import os
import re
import select
import signal
import subprocess
import sys
import time
import urllib.error
from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

from fault_judge import Hole, Reported
from running import TOKEN, Running
from tidscope_backend.store.reader import RunReader
from tidscope_wire.generated.models import RunManifest, ThreadBorn, ThreadExited

SECRET = "benchmark-" + os.urandom(16).hex()
READY_S = 60.0
POLL_S = 0.05
ANSWER_ERRORS = (OSError, urllib.error.URLError, json.JSONDecodeError)
"""Errors of a request to a dead, stopped or starting backend."""


class Installation:
    """A `tidscope up` with logs and runs in folders.

    Args:
        runs: runs directory.
        logs: folder that collectors have as /var/log.
        log: file of the output of `tidscope up`.
    """

    def __init__(self, runs: Path, logs: Path, log: Path) -> None:
        self._runs = runs
        self._logs = logs
        self._log = log
        self._port = 0
        self._up: subprocess.Popen[str] | None = None
        self._running: Running | None = None
        logs.mkdir(parents=True, exist_ok=True)
        runs.mkdir(parents=True, exist_ok=True)
        self.start()

    def start(self) -> None:
        """Start it, on the port that it had before. Raises TimeoutError."""
        environ = {k: v for k, v in os.environ.items() if not k.startswith("TIDSCOPE_")}
        environ |= {"TIDSCOPE_TOKEN": TOKEN, "TIDSCOPE_COLLECTOR_SECRET": SECRET}
        environ["TIDSCOPE_RUNS"] = str(self._runs)
        bind = 'mount --bind "$0" /var/log && exec "$@"'
        command = ["unshare", "--mount", "sh", "-c", bind, str(self._logs)]
        command += [str(Path(sys.executable).with_name("tidscope")), "up", "--no-open", "--json"]
        # Sampling may take what it needs: the rate is no part of what is judged.
        command += ["--port", str(self._port), "--budget-percent", "0"]
        with self._log.open("ab") as log:
            self._up = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=log, env=environ, text=True
            )
        assert self._up.stdout is not None
        if not select.select([self._up.stdout], [], [], READY_S)[0]:
            raise TimeoutError(f"tidscope up was not ready within {READY_S:g} s")
        line = self._up.stdout.readline()
        if not line:
            raise RuntimeError(f"tidscope up ended: {self._log.read_text()[-2000:]}")
        address = json.loads(line)["address"]
        self._port = int(address.rpartition(":")[2])
        self._running = Running(address, self._up.pid)

    @property
    def address(self) -> str:
        """Address of the backend, with its scheme."""
        assert self._running is not None
        return self._running.address

    def pids(self, part: str) -> list[int]:
        """Processes of a part: supervisor, backend, collector, or helper.

        Helpers are the processes that the collector starts: those that read the files and memory of
        other processes, and what starts and watches those.
        """
        assert self._running is not None
        assert self._up is not None
        if part == "supervisor":
            return [self._up.pid]
        if part == "backend":
            return [self._running.backend.pid]
        collector = self._running.collector
        if part == "collector":
            return [collector.pid]
        return [one.pid for one in collector.children(recursive=True)]

    def supervised(self) -> bool:
        """True while `tidscope up` runs."""
        assert self._up is not None
        return self._up.poll() is None

    def ask(self, path: str, body: dict[str, Any] | None = None, method: str | None = None) -> Any:
        """Ask the backend; JSON, or None if there is none."""
        assert self._running is not None
        return json.loads(self._running.fetch(path, body, method) or b"null")

    def frames(self) -> int:
        """Frames that the backend has received; 0 while it does not answer."""
        with suppress(*ANSWER_ERRORS):
            return int(self.ask("/health")["frames"])
        return 0

    def sampled(self, pids: Sequence[int]) -> bool:
        """True if a target is attached for each of these processes."""
        with suppress(*ANSWER_ERRORS):
            targets = self.ask("/targets")["targets"]
            return set(pids) <= {
                one["process"]["pid"] for one in targets if one["state"] == "attached"
            }
        return False

    def until_flowing(self, pids: Sequence[int], seconds: float) -> float | None:
        """Wait until samples of these processes arrive.

        Returns:
            How long that took; None: they did not come within these seconds.
        """
        began = time.monotonic()
        before = self.frames()
        while (now := time.monotonic()) < began + seconds:
            frames = self.frames()
            before = min(before, frames)
            if frames >= before + 2 * max(1, len(pids)) and self.sampled(pids):
                return now - began
            time.sleep(POLL_S)
        return None

    def close(self) -> None:
        """End it and all that it started, by their ids."""
        assert self._up is not None
        if self._up.poll() is None:
            # A stopped process ends only once it goes on.
            self._up.send_signal(signal.SIGCONT)
            self._up.terminate()
            with suppress(subprocess.TimeoutExpired):
                self._up.wait(20)


def read_run(folder: Path, until_s: float, rate_hz: float) -> tuple[RunManifest, Reported]:
    """Read what a run says.

    Args:
        folder: folder of the run.
        until_s: when it was to end, Unix seconds.
        rate_hz: sampling rate that was requested.
    """
    reader = RunReader(folder)
    manifest = reader.manifest
    columns = ["first_seq", "seq", "time_ns", "live_threads", "exited", "health"]
    rows = reader.signals(columns).to_pylist()
    first_s = manifest.started_unix_us / 1e6
    from_ns = manifest.from_ns
    cpu_ns = 0
    for thread in reader.threads().to_pylist():
        then, now = thread["first"]["cpu_run_ns"], thread["last"]["cpu_run_ns"]
        cpu_ns += max(0, (now or 0) - (then or 0))
    first_seq = rows[0]["seq"] if rows else 0
    events = [one.event for one in reader.events() if one.seq > first_seq]
    exits = [one for one in events if isinstance(one, ThreadExited)]
    born = sum(isinstance(one, ThreadBorn) for one in events)
    born += sum(not one.seen_alive for one in exits)
    ended = rows[-1]["exited"]["threads"] - rows[0]["exited"]["threads"] if rows else 0
    last_ns = rows[-1]["time_ns"] if rows else from_ns
    ends = (rows[0], rows[-1]) if rows else ()
    unsure = re.search(r"born or ended in the (\d+) s before", manifest.end_detail)
    return manifest, Reported(
        state=manifest.state,
        from_s=first_s,
        to_s=first_s + (last_ns - from_ns) / 1e9,
        until_s=until_s,
        born=born,
        ended=ended,
        events=len(exits),
        cpu_s=cpu_ns / 1e9,
        losses=manifest.losses.model_dump(),
        holes=holes(rows),
        seqs=[(row["first_seq"], row["seq"]) for row in rows],
        period_s=1 / rate_hz,
        sample_s=max((row["health"]["sample_us"] for row in ends), default=0) / 1e6,
        unsure_s=float(unsure[1]) if unsure else 0.0,
    )


def holes(rows: Sequence[dict[str, Any]]) -> list[Hole]:
    """Long times between frames.

    Args:
        rows: `signals` of a run, in order.
    """
    found = list[Hole]()
    for before, row in pairwise(rows):
        seconds = (row["time_ns"] - before["time_ns"]) / 1e9
        rates = (before["health"]["effective_hz"], row["health"]["effective_hz"])
        period_s = 1 / min(rates)
        beyond = seconds - period_s
        if beyond < max(1.0, 3 * period_s):
            continue
        missed = row["health"]["missed_deadlines"] - before["health"]["missed_deadlines"]
        said_s = (missed + row["seq"] - row["first_seq"]) / max(rates)
        if row["first_seq"] > before["seq"] + 1:
            said_s = seconds
        found.append(Hole(beyond, min(said_s, beyond)))
    return found
