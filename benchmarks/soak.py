"""Growth test: an hour live, or an hour's updates as fast as possible.

`--minutes 60`: the demo program, collector, backend and the page in headless Chromium, as a person
watches them. `--updates 36000`: the same backend and page, fed by a made-up program (feeder.py) as
fast as the page paints; an hour is then an hour of the program's own time.
`--samples 36000`: the collector alone takes so many samples of the demo, a hundred a second, while
a program starts and ends processes as fast as it can, which fills what is kept by process in
seconds; an hour is then of ten samples a second.

Every few seconds the page's heap (workers and arrays included, after a collection) is read, and
memory, descriptors and threads of collector, backend, renderer and browser, their children
included. What fills up first is left out, the warm-up: the backend keeps 5 minutes of a target, the
page 10, and 2,000 ended threads, which a program that ends two a second has after 17 minutes and
whose past is gone 10 minutes later. Of the rest each figure is a slope an hour and its 95 %
interval (estimates.py), and is flat if the interval contains zero or the slope is below the bound
that is printed beside it. `dropped`, `coalesced` and `lost` count frames of the whole run; their
intervals are of the rate an hour.
"""

import argparse
import asyncio
import json
import signal
import sys
import time
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
from browser import Page, open_page
from busy import demo, fork_storm
from estimates import Trend, trend
from feeder import feeder
from made_program import MadeProgram
from running import Running, tidscope
from tick import SECRET, collector, frames

HOUR_UPDATES = 36_000
RATE_HZ, FASTEST_HZ = 10.0, 100.0
THREADS = 30
CHURN_S = 0.5
AHEAD = 56
"""Updates sent beyond the one that was painted last: no more than may be on their way to a page and
in its queue."""

SERIES = {
    "collector_rss": "mb",
    "backend_rss": "mb",
    "renderer_rss": "mb",
    "heap": "mb",
    "heap_page": "mb",
    "heap_workers": "mb",
    "heap_arrays": "mb",
    "fds": "",
    "collector_fds": "",
    "backend_fds": "",
    "renderer_fds": "",
    "collector_threads": "",
    "backend_threads": "",
    "browser_rss": "mb",
    "browser_fds": "",
    "renderer_threads": "",
}
CHROMIUM = {"browser_rss", "browser_fds", "renderer_threads"}
"""Shown, not judged: its helper processes and its pool of threads come and go as it likes."""
BOUNDS = {"mb": 1.0, "": 0.5}
"""Slopes an hour that count as flat: 24 MB a day, half a descriptor or thread an hour."""
DEMO = "tidscope_backend.demo"
COUNTS = ("coalesced", "dropped", "lost")
PROBE = "window.__tidscope_probe = [];"
PAINTED = "((p) => { const n = p.at(-1)?.seq ?? 0; p.length = 0; return n; })(__tidscope_probe)"
Sample = dict[str, float]


async def sample(
    processes: dict[str, psutil.Process], installation: Running, page: Page, at_h: float
) -> Sample:
    """Read everything once.

    Args:
        processes: processes by name; each includes its children, except the demo program.
        installation: the running tidscope.
        page: the page.
        at_h: hours since the start.
    """
    heaps = await page.heaps()
    found: Sample = {"hours": at_h, "heap": sum(heaps.values()) / 1e6}
    found |= {f"heap_{name}": size / 1e6 for name, size in heaps.items()}
    # Chromium moves a page to another process when it goes to another origin, sometimes later.
    found |= of_processes(processes | {"renderer": await page.renderer()})
    found["fds"] = sum(found[f"{name}_fds"] for name in (*processes, "renderer"))
    found["fds"] -= found["browser_fds"]
    health = await asyncio.to_thread(installation.ask, "/health")
    return found | {name: health[name] for name in ("frames", *COUNTS)}


def of_processes(processes: dict[str, psutil.Process]) -> Sample:
    """Memory, descriptors and threads of processes with their children."""
    found: Sample = {}
    for name, process in processes.items():
        tree = _tree(process)
        found[f"{name}_rss"] = sum(one.memory_info().rss for one in tree) / 1e6
        found[f"{name}_fds"] = sum(one.num_fds() for one in tree)
        found[f"{name}_threads"] = sum(one.num_threads() for one in tree)
    return found


def _tree(process: psutil.Process) -> list[psutil.Process]:
    """A process and its descendants, the demo program left out."""
    found = [process]
    for child in process.children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            if DEMO not in child.cmdline():
                found.append(child)
    return found


async def live(options: argparse.Namespace, keep: Callable[[Sample], None]) -> None:
    """Watch the demo for some minutes."""
    with tidscope("--demo") as installation:
        target = installation.ask("/targets")["targets"][0]["id"]
        async with open_page(installation.url_of(f"/?target={target}")) as page:
            await page.until("document.querySelector('canvas') !== null")
            processes = {"collector": installation.collector, "backend": installation.backend}
            processes["browser"] = page.browser
            began = time.monotonic()
            due = began
            while (now := time.monotonic()) < began + options.minutes * 60:
                keep(await sample(processes, installation, page, (now - began) / 3600))
                await _use(page)
                due += options.every
                await asyncio.sleep(max(0.0, due - time.monotonic()))


async def accelerated(options: argparse.Namespace, keep: Callable[[Sample], None]) -> None:
    """Feed so many updates."""
    # The last one is of about now.
    attached_us = time.time_ns() // 1000 - round(options.updates / RATE_HZ * 1e6)
    program = MadeProgram(THREADS, RATE_HZ, churn_s=CHURN_S, unix_us=attached_us)
    step = round(options.every * RATE_HZ)
    with tidscope("--no-collector", TIDSCOPE_COLLECTOR_SECRET=SECRET) as installation:
        async with (
            feeder(installation.address, SECRET, program) as feeding,
            open_page(installation.url_of(f"/?target={program.target.id}"), PROBE) as page,
        ):
            painted = 0

            async def paint(up_to: int) -> None:
                nonlocal painted
                async with asyncio.timeout(60):
                    while painted < up_to:
                        painted = max(painted, await page.evaluate(PAINTED))
                        await asyncio.sleep(0.02)

            await feeding.send(20)
            await page.until("document.querySelector('canvas') !== null")
            await paint(20)
            processes = {"backend": installation.backend, "browser": page.browser}
            while program.seq < options.updates:
                for _ in range(min(step, options.updates - program.seq)):
                    await paint(program.seq + 1 - AHEAD)
                    await feeding.send(1, ahead=1000)
                await paint(program.seq)
                keep(await sample(processes, installation, page, program.seq / HOUR_UPDATES))
                await _use(page)


async def collecting(options: argparse.Namespace, keep: Callable[[Sample], None]) -> None:
    """Run until the collector has taken a number of samples."""
    with (
        tidscope("--no-collector", TIDSCOPE_COLLECTOR_SECRET=SECRET) as installation,
        demo() as pid,
        fork_storm(),
        collector(installation, ["--ledger", "auto"]) as process,
    ):
        installation.ask("/targets", {"pid": pid, "rate_hz": FASTEST_HZ})
        while (taken := frames(installation)) < options.samples:
            health = installation.ask("/health")
            keep(
                {"hours": taken / HOUR_UPDATES}
                | of_processes({"collector": process})
                | {name: health[name] for name in ("frames", *COUNTS)}
            )
            await asyncio.sleep(options.every * RATE_HZ / FASTEST_HZ)


async def _use(page: Page) -> None:
    """Move the pointer over the charts, as a person does who reads them."""
    for x in range(300, 1200, 150):
        await page.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=420)


def figures(samples: list[Sample], warm_up_h: float) -> dict[str, Any]:
    """Slopes and their intervals of what was sampled after the warm-up."""
    kept = [one for one in samples if one["hours"] >= warm_up_h]
    hours = [one["hours"] for one in kept]
    found: dict[str, Any] = {}
    grows = []
    for name, unit in SERIES.items():
        if name not in kept[0]:
            continue
        key = "_".join(filter(None, (name, unit, "per_hour")))
        bound = BOUNDS[unit]
        slope = trend(hours, [one[name] for one in kept])
        found |= _figure(key, slope, 3)
        found[f"{name}_first"] = round(kept[0][name], 2)
        found[f"{name}_last"] = round(kept[-1][name], 2)
        found[f"{key}_bound"] = bound
        found[f"{key}_flat"] = slope.flat(bound)
        if slope.low > 0 and not slope.flat(bound) and name not in CHROMIUM:
            grows.append(key)
    for name in COUNTS:
        rate = trend(hours, [one[name] for one in kept])
        found[name] = round(samples[-1][name] - samples[0][name])
        found[f"{name}_interval"] = [round(rate.low, 3), round(rate.high, 3)]
    return found | {
        "grows": grows,
        "frames": round(samples[-1]["frames"]),
        "samples": len(kept),
        "warm_up_hours": warm_up_h,
        "hours": round(samples[-1]["hours"], 3),
    }


def _figure(key: str, slope: Trend, digits: int) -> dict[str, Any]:
    interval = [round(slope.low, digits), round(slope.high, digits)]
    return {key: round(slope.slope, digits), f"{key}_interval": interval}


def read_samples(file: Path) -> list[Sample]:
    """The samples of an earlier run."""
    return [json.loads(line) for line in file.read_text().splitlines()]


def run(
    soak: Callable[[argparse.Namespace, Callable[[Sample], None]], Awaitable[None]],
    options: argparse.Namespace,
) -> list[Sample]:
    """Run one of the two; each sample is written to the file at once."""
    samples: list[Sample] = []
    lines = None if options.keep is None else options.keep.open("w", buffering=1)

    def keep(one: Sample) -> None:
        samples.append(one)
        if lines is not None:
            lines.write(json.dumps(one) + "\n")

    async def all_of_it() -> None:
        soaking = asyncio.ensure_future(soak(options, keep))
        # Cancelling the soak ends its child processes too.
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, soaking.cancel)
        await soaking

    try:
        asyncio.run(all_of_it())
    finally:
        if lines is not None:
            lines.close()
    return samples


def _print(lines: Iterable[tuple[str, Any]]) -> None:
    for name, value in lines:
        print(f"{name:40} {value}")


def main() -> int:
    """Run; status 1 if anything grows."""
    parser = argparse.ArgumentParser(description="Whether anything grows.")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--minutes", type=float, help="watch the demo for so long")
    what.add_argument("--updates", type=int, help="feed so many, as fast as they are painted")
    what.add_argument("--samples", type=int, help="the collector takes so many, a hundred a second")
    what.add_argument("--read", type=Path, metavar="FILE", help="samples of an earlier run")
    parser.add_argument("--every", type=float, default=10, help="seconds between two samples")
    parser.add_argument("--warm-up-minutes", type=float, default=28, help="that are left out")
    parser.add_argument("--keep", type=Path, metavar="FILE", help="write what is read to a file")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.read is not None:
        samples = read_samples(options.read)
    else:
        soak = accelerated if options.updates is not None else live
        samples = run(collecting if options.samples is not None else soak, options)
    found = figures(samples, options.warm_up_minutes / 60)
    if options.json:
        print(json.dumps(found))
    else:
        _print(found.items())
    return 1 if found["grows"] else 0


if __name__ == "__main__":
    sys.exit(main())
