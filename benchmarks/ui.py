"""Cost of drawing: the page against ECharts as a newcomer writes it, and against uPlot.

In one headless Chromium stand, in turn: the page as it opens, and with the tab of all charts
(built, with its worker and a real WebSocket to a real backend, which feeder.py feeds), one chart of
it alone (one_chart/), a chart of uPlot, and one of ECharts with `setOption` at each update. All
show the last minute of the same threads, 1,200 samples each, in a chart of the same size.

What each draws: uPlot and ECharts a line a thread. Our chart gets the counters of all threads and
draws the busiest 50 as lines and the sum of the others as one; with 50 threads that is a line a
thread. The page draws all of its charts, the map with a row a thread, tiles and table; a thread is
selected, the Steer drawer is open, and the pointer moves across a chart ten times a second.

CPU is that of the browser's renderer processes (user and system, all threads: page, worker,
compositor, raster), by /proc, divided by the samples that were sent. The other pages stand idle
meanwhile. Frames a second are those of requestAnimationFrame, in rounds of their own: asking for
them makes the browser draw. Figures are medians over rounds, in which all take turns.
"""

import argparse
import asyncio
import base64
import json
import os
import statistics
import sys
import time
import urllib.request
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Self

import numpy as np
import psutil
from feeder import Feeder, feeder
from made_program import MadeProgram
from running import TOKEN
from tidscope_wire.proof import KEY_BYTES, host_secret

ROOT = Path(__file__).resolve().parent.parent
POINTS = 1200
# Window of the threads' time: the page shows the last minute.
SAMPLES_HZ = 20
UPDATES_HZ = 10
LINES = 50
MAX_COMPARED = 1000
HEAP_UPDATES = 600
CHUNK = 60
MAX_CHUNKS = 120
MAX_SLOW_HZ = 10.0
SECRET = host_secret("default", os.urandom(KEY_BYTES))
CPU_CHART = "[data-chart=cpu]"
HOVERED = {"page": "[data-chart=times]", "all": CPU_CHART, "chart": CPU_CHART}
"""Chart that the pointer moves across, by page."""
PREPARED = {
    "page": {"pressed": "[data-panel=times] li[data-role] button", "shown": "[data-panel=map]"},
    "all": {"pressed": "[data-panel=cpu] li[data-key] button", "shown": "[data-panel=cpu]"},
}
"""Selectors, by page: what is pressed before measuring, and the panel at the bottom then."""


class Browser:
    """The browser's program, ui_page.mjs; use as an asynchronous context manager."""

    def __init__(self) -> None:
        self._process: asyncio.subprocess.Process | None = None

    async def __aenter__(self) -> Self:
        self._process = await asyncio.create_subprocess_exec(
            *("node", str(ROOT / "benchmarks" / "ui_page.mjs")),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            cwd=ROOT,
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._process is not None and self._process.stdin is not None
        self._process.stdin.close()
        await self._process.wait()

    async def ask(self, command: str, name: str, **arguments: Any) -> Any:
        """Have it do something with a page; its answer."""
        process = self._process
        assert process is not None and process.stdin is not None and process.stdout is not None
        line = json.dumps({"command": command, "name": name, **arguments})
        process.stdin.write(line.encode() + b"\n")
        answer = await process.stdout.readline()
        if not answer:
            raise SystemExit(f"the browser failed at {command} of {name}")
        return json.loads(answer)

    def cpu_s(self, kind: str) -> float:
        """CPU seconds so far of the browser's processes of a kind: renderer, gpu-process."""
        assert self._process is not None
        spent = 0.0
        for process in psutil.Process(self._process.pid).children(recursive=True):
            try:
                if f"--type={kind}" in process.cmdline():
                    times = process.cpu_times()
                    spent += times.user + times.system
            except psutil.NoSuchProcess:
                pass
        return spent


@asynccontextmanager
async def fed_backend(program: MadeProgram) -> AsyncIterator[tuple[str, Feeder]]:
    """A backend with a made-up program's frames; its address and what feeds it."""
    serve = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tidscope_backend", "serve", "--port", "0"),
        stdin=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "TIDSCOPE_TOKEN": TOKEN, "TIDSCOPE_COLLECTOR_SECRET": SECRET},
    )
    try:
        assert serve.stderr is not None
        while "port " not in (line := (await serve.stderr.readline()).decode()):
            if not line:
                raise SystemExit("the backend ended")
        address = f"http://127.0.0.1:{int(line.rpartition('port ')[2].split()[0].strip('.,'))}"
        async with feeder(address, SECRET, program) as feeding:
            yield address, feeding
    finally:
        serve.terminate()
        await serve.communicate()


async def feed(feeding: Feeder, frames: int, rate_hz: float) -> None:
    """Send frames at a rate of the clock on the wall."""
    due = time.monotonic()
    for _ in range(frames):
        await asyncio.sleep(max(0.0, due - time.monotonic()))
        await feeding.send(1)
        due += 1 / rate_hz


async def fill(address: str, feeding: Feeder, points: int = POINTS) -> None:
    """Fill the minute that is shown, as fast as the page takes frames one by one.

    What it takes more slowly is coalesced on the way, which leaves fewer points: then it goes on
    more slowly, until those are out of sight.
    """
    rate_hz, lost = 100.0, [CHUNK]
    while sum(lost[-points // CHUNK :]) > points // 100 or len(lost) <= points // CHUNK:
        before = await asyncio.to_thread(coalesced, address)
        await feed(feeding, CHUNK, rate_hz)
        await asyncio.sleep(0.2)
        lost.append(await asyncio.to_thread(coalesced, address) - before)
        if lost[-1]:
            rate_hz = max(MAX_SLOW_HZ, rate_hz / 2)
        if len(lost) > MAX_CHUNKS:
            raise SystemExit("the page does not keep up: the machine is too busy to measure")


def coalesced(address: str) -> int:
    """Frames that the backend has merged for its pages."""
    request = urllib.request.Request(
        f"{address}/api/v1/health", headers={"Authorization": f"Bearer {TOKEN}"}
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        return int(json.load(answer)["coalesced"])


def samples_of(threads: int, count: int) -> str:
    """CPU use of threads in each sample, in cores: float32[count, threads] as base64."""
    program = MadeProgram(threads, SAMPLES_HZ, seed=threads)
    rows = []
    before = program.counter("cpu_run_ns")
    for _ in range(count):
        program.next_frame()
        now = program.counter("cpu_run_ns")
        rows.append(((now - before) * (SAMPLES_HZ / 1e9)).astype(np.float32))
        before = now
    return base64.b64encode(np.stack(rows).tobytes()).decode()


class Contest:
    """Measurements of every drawing library at one number of threads.

    Args:
        browser: browser in which they draw.
        threads: number of threads.
        feeds: feeds of `page`, of `all` charts, and of the single `chart`.
    """

    def __init__(self, browser: Browser, threads: int, feeds: dict[str, Feeder]) -> None:
        self._browser, self._threads = browser, threads
        self._feeds = feeds
        self.cpu_ms: dict[str, list[float]] = {}
        self.gpu_ms: dict[str, list[float]] = {}
        self.drawn: dict[str, list[float]] = {}
        self.long_tasks: dict[str, list[float]] = {}

    async def cost(self, name: str, updates: int, work: Callable[[], Awaitable[object]]) -> None:
        """Measure the CPU of some updates."""
        browser = self._browser
        await browser.ask("seen", name)
        before = browser.cpu_s("renderer"), browser.cpu_s("gpu-process")
        await work()
        for costs, kind, spent in (
            (self.cpu_ms, "renderer", before[0]),
            (self.gpu_ms, "gpu-process", before[1]),
        ):
            costs.setdefault(name, []).append(1000 * (browser.cpu_s(kind) - spent) / updates)
        seen = await browser.ask("seen", name)
        self.drawn.setdefault(name, []).append(seen["views"] / updates)
        self.long_tasks.setdefault(name, []).extend(seen["longTasks"])

    async def ours(self, name: str, updates: int) -> None:
        """Feed one of ours while the pointer moves across its chart."""
        seconds = updates / UPDATES_HZ

        async def work() -> None:
            hover = self._browser.ask("hover", name, seconds=seconds - 0.5, selector=HOVERED[name])
            await asyncio.gather(feed(self._feeds[name], updates, UPDATES_HZ), hover)
            await asyncio.sleep(0.3)

        await self.cost(name, updates, work)

    async def peer(self, name: str, updates: int) -> None:
        """Draw with another library."""
        await self.cost(
            name,
            updates,
            lambda: self._browser.ask("update", name, updates=updates, rate_hz=UPDATES_HZ),
        )

    async def frames(self, seconds: float) -> tuple[float, float]:
        """Frames a second of the page while it is fed and pointed at, and its longest task, ms."""
        updates = round(seconds * UPDATES_HZ)
        await self._browser.ask("frames", "page", on=True)
        await self._browser.ask("seen", "page")
        began = time.monotonic()
        selector = HOVERED["page"]
        hover = self._browser.ask("hover", "page", seconds=seconds - 0.3, selector=selector)
        await asyncio.gather(feed(self._feeds["page"], updates, UPDATES_HZ), hover)
        seen = await self._browser.ask("seen", "page")
        fps = seen["frames"] / (time.monotonic() - began)
        await self._browser.ask("frames", "page", on=False)
        return fps, max(seen["longTasks"], default=0.0)

    async def heap(self) -> float:
        """MB that the page's heap has grown by after 600 updates; the worker's is another."""
        feeding = self._feeds["page"]
        before = (await self._browser.ask("heap", "page"))["bytes"]
        await feed(feeding, HEAP_UPDATES, 2 * UPDATES_HZ)
        await asyncio.sleep(0.5)
        after = (await self._browser.ask("heap", "page"))["bytes"]
        return float(after - before) / 1e6

    def figures(self) -> dict[str, Any]:
        """Medians and spreads."""
        found: dict[str, Any] = {}
        for name, costs in self.cpu_ms.items():
            found[f"{name}_cpu_ms"] = round(statistics.median(costs), 2)
            found[f"{name}_cpu_ms_spread"] = [round(min(costs), 2), round(max(costs), 2)]
            found[f"{name}_gpu_process_ms"] = round(statistics.median(self.gpu_ms[name]), 2)
            found[f"{name}_long_tasks"] = len(self.long_tasks[name])
            if name in self._feeds:
                found[f"{name}_drawn_per_update"] = round(statistics.median(self.drawn[name]), 2)
        return found


async def contest(
    browser: Browser, threads: int, rounds: int, seconds: float, heap: bool
) -> dict[str, Any]:
    """Measure one number of threads."""
    async with AsyncExitStack() as stack:
        feeds, addresses = [], []
        # The peers cannot draw that many lines, so there is nothing to compare.
        compared = threads <= MAX_COMPARED
        ours = ("page", "all", "chart") if compared else ("page", "all")
        for name in ours:
            program = MadeProgram(threads, SAMPLES_HZ, seed=threads)
            address, feeding = await stack.enter_async_context(fed_backend(program))
            await feeding.send(2)
            query, token = f"?target={program.target.id}", f"#token={TOKEN}"
            if name in PREPARED:
                tab = "" if name == "page" else f"&tab={name}"
                await browser.ask("page", name, url=f"{address}/{query}{tab}{token}")
            else:
                query = f"{query}&top={LINES}{token}"
                await browser.ask("chart", name, origin=address, query=query)
            feeds.append(feeding)
            addresses.append(address)
        await asyncio.gather(*map(fill, addresses, feeds))
        for name, how in PREPARED.items():
            await browser.ask("prepare", name, **how)
        one = Contest(browser, threads, dict(zip(ours, feeds, strict=True)))
        peers = {}
        if compared:
            peers["uplot"] = 60 if threads <= 100 else 10
            peers["naive"] = 20 if threads <= 100 else 2
            size = await browser.ask("size", "chart", selector=CPU_CHART)
            samples = samples_of(threads, POINTS)
            for name in peers:
                drawn = {"peer": name, "threads": threads, "points": POINTS, "samples": samples}
                await browser.ask("peer", name, **drawn, **size)
        updates = round(seconds * UPDATES_HZ)
        for _ in range(rounds):
            for name in ours:
                await one.ours(name, updates)
            for name, count in peers.items():
                await one.peer(name, count)
        fps, longest = zip(*[await one.frames(seconds) for _ in range(rounds)], strict=True)
        found = one.figures()
        found["fps"] = round(statistics.median(fps), 1)
        found["longest_task_ms"] = round(max(longest), 1)
        if heap:
            found["heap_mb_per_600_updates"] = round(await one.heap(), 2)
        for name in (*ours, *peers):
            await browser.ask("close", name)
        return found


async def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    """All numbers of threads, in one browser."""
    figures: dict[str, Any] = {}
    async with Browser() as browser:
        for threads in arguments.threads:
            heap = threads == 1000 and not arguments.no_heap
            found = await contest(browser, threads, arguments.rounds, arguments.seconds, heap)
            figures[f"threads_{threads}"] = found
            figures[f"fps_{threads}"] = found["fps"]
            if heap:
                figures["heap_mb_per_600_updates"] = found.pop("heap_mb_per_600_updates")
            for peer in ("naive", "uplot"):
                if f"{peer}_cpu_ms" in found:
                    for ours, suffix in (("chart", ""), ("page", "_whole_page")):
                        ratio = found[f"{ours}_cpu_ms"] / found[f"{peer}_cpu_ms"]
                        figures[f"vs_{peer}_{threads}{suffix}"] = round(ratio, 4)
    return figures


def main() -> int:
    """Run; see the module's text."""
    parser = argparse.ArgumentParser(description="What drawing costs.")
    parser.add_argument("--threads", type=int, action="append", help="50, 1000 and 5000")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=5, help="of each of ours in a round")
    parser.add_argument("--no-heap", action="store_true", help="leave the heap out")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    arguments.threads = arguments.threads or [50, 1000, 5000]
    figures = asyncio.run(measure(arguments))
    if arguments.json:
        print(json.dumps(figures))
        return 0
    for name, value in figures.items():
        if isinstance(value, dict):
            print(name)
            for inner, each in value.items():
                print(f"  {inner:32} {each!s:>20}")
        else:
            print(f"{name:34} {value:>20}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
