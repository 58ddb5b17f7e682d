"""Cost of a group of many processes for the page: frames a second while it is shown.

A made-up group of 300 processes of 20 threads each, at ten samples a second, in a headless
Chromium with the built page, its worker and a real backend (feeder.py, ui.py). Measured at first
view (the page as it opens, the pointer over the CPU chart), while scrolling through all of it and
back, the same while no frames come, and all of it with processes unfolded. Frames a second are
those of requestAnimationFrame. `text_scrolling` is the floor: a page of text that is scrolled in
turn in the same browser; on a busy machine it has fewer than 60 as well.
"""

import argparse
import asyncio
import json
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any

from feeder import Feeder
from made_program import MadeProgram
from running import TOKEN
from ui import CPU_CHART, UPDATES_HZ, Browser, fed_backend, feed, fill

PAGE, TEXT = "page", "text"


async def frames_while(
    browser: Browser,
    feeding: Feeder | None,
    seconds: float,
    doing: Callable[[], Awaitable[object]],
    name: str = PAGE,
) -> dict[str, float]:
    """Frames a second, the longest task, and CPU, while something is done; fed, if it is."""
    await browser.ask("frames", name, on=True)
    await browser.ask("seen", name)
    before = browser.cpu_s("renderer")
    began = time.monotonic()
    updates = round(seconds * UPDATES_HZ)
    if feeding is None:
        await doing()
    else:
        await asyncio.gather(feed(feeding, updates, UPDATES_HZ), doing())
    seen = await browser.ask("seen", name)
    took = time.monotonic() - began
    await browser.ask("frames", name, on=False)
    return {
        "fps": seen["frames"] / took,
        "longest_task_ms": max(seen["longTasks"], default=0.0),
        "cpu_ms": 1000 * (browser.cpu_s("renderer") - before) / updates,
    }


async def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    """All ways of looking at it, in turn."""
    found: dict[str, list[dict[str, float]]] = {}
    threads = arguments.processes * arguments.threads
    program = MadeProgram(threads, UPDATES_HZ, seed=threads, processes=arguments.processes)
    seconds = arguments.seconds
    async with Browser() as browser, fed_backend(program) as (address, feeding):
        await feeding.send(2)
        url = f"{address}/?target={program.target.id}&tab=all#token={TOKEN}"
        await browser.ask("page", PAGE, url=url)
        await fill(address, feeding, arguments.filled)

        async def point() -> None:
            await browser.ask("hover", PAGE, seconds=seconds - 0.3, selector=CPU_CHART)

        async def scroll() -> None:
            await browser.ask("scroll", PAGE, seconds=seconds - 0.3)

        async def scroll_text() -> None:
            await browser.ask("scroll", TEXT, seconds=seconds - 0.3)

        await browser.ask("text", TEXT)
        for state in ("folded", "unfolded"):
            if state == "unfolded":
                opened = await browser.ask("unfold", PAGE, processes=arguments.unfolded)
                assert opened["rows"] > 0
            for _ in range(arguments.rounds):
                await browser.ask("top", PAGE)
                first = await frames_while(browser, feeding, seconds, point)
                found.setdefault(f"{state}_first_view", []).append(first)
                scrolled = await frames_while(browser, feeding, seconds, scroll)
                found.setdefault(f"{state}_scrolling", []).append(scrolled)
                await browser.ask("top", PAGE)
                still = await frames_while(browser, None, seconds, scroll)
                found.setdefault(f"{state}_unfed_scrolling", []).append(still)
                await browser.ask("top", TEXT)
                least = await frames_while(browser, None, seconds, scroll_text, TEXT)
                found.setdefault("text_scrolling", []).append(least)
            if arguments.trace:
                await browser.ask("top", PAGE)
                await browser.ask("trace", PAGE, path=f"{arguments.trace}-{state}.json")
                await frames_while(browser, feeding, seconds, scroll)
                await browser.ask("traced", PAGE)
        if arguments.picture:
            await browser.ask("top", PAGE)
            await browser.ask("picture", PAGE, path=arguments.picture)
    figures: dict[str, Any] = {"processes": arguments.processes, "threads": threads}
    for name, rounds in found.items():
        for key in ("fps", "cpu_ms"):
            values = [one[key] for one in rounds]
            figures[f"{name}_{key}"] = round(statistics.median(values), 1)
            figures[f"{name}_{key}_spread"] = [round(min(values), 1), round(max(values), 1)]
        figures[f"{name}_longest_task_ms"] = round(max(one["longest_task_ms"] for one in rounds), 1)
    return figures


def main() -> int:
    """Run; see the module's text."""
    parser = argparse.ArgumentParser(description="What a group of many processes costs the page.")
    parser.add_argument("--processes", type=int, default=300)
    parser.add_argument("--threads", type=int, default=20, help="of each process")
    parser.add_argument("--unfolded", type=int, default=10, help="processes that are unfolded")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=5, help="of each observation in a round")
    parser.add_argument("--filled", type=int, default=600, help="samples before it is measured")
    parser.add_argument("--trace", help="beginning of files with what the browser did, scrolling")
    parser.add_argument("--picture", help="file of a picture of the page at the end")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    figures = asyncio.run(measure(arguments))
    if arguments.json:
        print(json.dumps(figures))
        return 0
    for name, value in figures.items():
        print(f"{name:40} {value!s:>24}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
