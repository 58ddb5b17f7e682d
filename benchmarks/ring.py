"""Costs of the ring: a program is watched at 10 Hz, with and without `--keep-minutes`.

For each number of threads: `raw_mb_hour`, bytes that are written as frames; `mb_hour`, bytes that
stay, as the run that is cut out of them has; `keeper_percent`, CPU of the process that writes them,
in percent of a core, `seal_percent` of sealing; `keeper_pss_mb` and `seal_peak_mb`, their memory;
`host_ratio`, CPU of all processes of tidscope with the ring to those without, in the same minutes.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psutil
from running import Running, cpu, tidscope, wakers
from tidscope_backend.ring.bounds import tracks_in
from tidscope_backend.ring.listing import FOLDER

PERIOD_MS = 200
"""Period in which each thread of the program wakes up."""
HOUR_S = 3600
SETTLE_S = 3.0


def processes(running: Running) -> list[psutil.Process]:
    """Return the processes of a `tidscope up`, without the program that is watched."""
    up = psutil.Process(running.up_pid)
    return [up, *up.children(recursive=True)]


def keeper(running: Running) -> psutil.Process:
    """Return the process that writes the ring."""
    (found,) = [one for one in processes(running) if "ring.keeper" in " ".join(one.cmdline())]
    return found


def pss_mb(pid: int) -> float:
    """Proportional memory of a process, in MB."""
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) / 1000
    return 0.0


def total(running: Running) -> float:
    """CPU seconds of all processes so far."""
    return sum(cpu(one) for one in processes(running))


def measured(threads: int, seconds: float) -> dict[str, Any]:
    """Watch a program with both, at the same time."""
    with ExitStack() as held:
        place = Path(held.enter_context(tempfile.TemporaryDirectory()))
        pid = held.enter_context(wakers(threads, PERIOD_MS))
        options = ("--budget-percent", "0")
        plain = held.enter_context(tidscope(*options, TIDSCOPE_RUNS=str(place / "plain")))
        kept = held.enter_context(
            tidscope(*options, "--keep-minutes", "60", TIDSCOPE_RUNS=str(place / "kept"))
        )
        for one in (plain, kept):
            one.ask("/targets", {"pid": pid, "rate_hz": 10})
        time.sleep(SETTLE_S)
        writer = keeper(kept)
        begin = [total(plain), total(kept), cpu(writer)]
        time.sleep(seconds)
        end = [total(plain), total(kept), cpu(writer)]
        spent = [after - before for before, after in zip(begin, end, strict=True)]
        memory = pss_mb(writer.pid)
        (track,) = tracks_in(place / "kept" / FOLDER)
        return {
            "threads": threads,
            "seconds": seconds,
            "keeper_percent": round(100 * spent[2] / seconds, 2),
            "keeper_pss_mb": round(memory, 1),
            "host_ratio": round(spent[1] / spent[0], 3),
            **sealed(track.path, place / "kept"),
        }


def sealed(track: Path, runs: Path) -> dict[str, float]:
    """Seal what was written, and cut it out as a run."""
    # Full parts may be sealed while this copies: frames are counted in the copy.
    copy = runs / "copy"
    subprocess.run(["cp", "-r", str(track), str(copy)], check=True)
    frames = sorted((copy / "open").glob("*.frames"))
    raw = sum(one.stat().st_size for one in frames)
    tidscope_command = str(Path(sys.executable).with_name("tidscope"))
    command = [tidscope_command, "runs", "cut", "wakers", "--json"]
    done = subprocess.run(
        command,
        env={**os.environ, "TIDSCOPE_RUNS": str(runs)},
        capture_output=True,
        text=True,
        check=True,
    )
    run = json.loads(done.stdout)
    span_s = (run["to_ns"] - run["from_ns"]) / 1e9
    parts = [f"{int(one.stem)}" for one in frames]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    sealing = [sys.executable, "-m", "tidscope_backend.recording.sealing", str(copy), *parts]
    subprocess.run(sealing, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {
        "raw_mb_hour": round(raw / span_s * HOUR_S / 1e6, 1),
        "mb_hour": round(run["counts"]["bytes"] / span_s * HOUR_S / 1e6, 1),
        "seal_percent": round(100 * seconds / span_s, 2),
        "seal_peak_mb": round(after.ru_maxrss / 1000, 1),
        "frames": run["counts"]["frames"],
        "lost": run["losses"]["frames"],
    }


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, nargs="+", default=[50, 1000])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--json", action="store_true", help="print JSON (the only form)")
    options = parser.parse_args()
    found = [measured(threads, options.seconds) for threads in options.threads]
    print(json.dumps({"load": os.getloadavg()[0], "cases": found}, indent=1))


if __name__ == "__main__":
    main()
