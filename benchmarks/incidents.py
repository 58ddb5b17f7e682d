"""Do findings name the fault? Programs with one known fault each, and healthy twins, on the page.

Each program of incident_cases.py runs once with its fault and once without, is attached to with
what `tidscope up` does by default (those that only their own account explains, with
--ask-programs), and its live page is open in a headless Chromium. What the page says under Findings
is read twice a second. It is judged when it has stood for some time: right
(cause and party), symptom, misleading or silent; a healthy twin should get no finding but those
that are true of it. Sentences are compared with the rules of incident_cases.py.

`said_s`: from the attach, or from when the fault begins, until the right finding is first said.
`false_alarms`: healthy programs with a finding that is none. Needs root, chromium, cc, go, cargo, a
JDK, a JVM of Java 21 (for java-pinned), node, PostgreSQL and redis-server, and the packages of
Debian that tools/unpack-packages unpacks: .cache/gunicorn with python3-gunicorn, and .cache/php
with php8.2-fpm php8.2-common libargon2-1 libsodium23. What is missing is said and left out, which
makes the figures those of fewer incidents.
"""

import argparse
import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from itertools import product
from pathlib import Path
from typing import Any

from browser import Page, open_page
from incident import HERE, Incident
from incident_cases import INCIDENTS
from incident_processes import PROCESSES
from incident_queues import QUEUES
from incident_servers import SERVERS
from incident_unseen import UNSEEN
from running import Running, tidscope

FAULT_S = 25.0
"""Time for which an incident is looked at, in seconds."""
WITHIN_S = 15.0
PERIOD_S = 0.5
SIZES = (1440, 900), (1920, 1080), (390, 844)
"""Sizes of a page's pictures, in CSS pixels; each is taken light and dark."""
NUMBER = re.compile(r"\d[\d., ]*")
FINDINGS = """
(() => {
  const panel = document.querySelector("[data-panel=findings]");
  panel?.querySelector("button[aria-expanded=false]")?.click();
  return [...document.querySelectorAll("[data-panel=findings] [data-finding] > button")]
    .map((each) => each.innerText.replace(/\\s+/g, " ").trim());
})()
"""
"""Sentences of all findings; what is evidence or advice does not count."""


def built(folder: Path) -> None:
    """Compile the programs into a folder."""

    def run(*words: str, cwd: Path = HERE) -> None:
        subprocess.run(words, cwd=cwd, check=True, env={**os.environ, "GOFLAGS": "-mod=mod"})

    sources = ("incident.c", "bursts.c", "queues.c", "sockets.c")
    run("cc", "-O2", "-g", "-pthread", "-o", str(folder / "incident"), *sources)
    if shutil.which("go"):
        run("go", "build", "-o", str(folder / "incident-go"), ".", cwd=HERE / "go")
    if shutil.which("cargo"):
        manifest = str(HERE / "rust" / "Cargo.toml")
        words = ("build", "--release", "--quiet", "--locked", "--manifest-path", manifest)
        run("cargo", *words, "--target-dir", str(folder / "cargo"))
        (folder / "cargo" / "release" / "incident-rust").rename(folder / "incident-rust")
    if shutil.which("javac"):
        run(
            "javac",
            "-d",
            str(folder / "java"),
            "Incident.java",
            "Stops.java",
            "Pinned.java",
            "Asking.java",
        )


def target_of(running: Running, incident: Incident, pid: int) -> str:
    """Attach to an incident's process, or to its tree."""
    what = {"group": {"kind": "tree", "pid": pid}} if incident.tree else {"pid": pid}
    return str(running.ask("/targets", {**what, "rate_hz": 10})["id"])


async def read(page: Page, began: float, seconds: float) -> list[tuple[float, list[str]]]:
    """Read the findings for some time: seconds since the attach, and sentences.

    Args:
        page: the live page.
        began: when the program was attached, by time.monotonic().
        seconds: time for which it is read; a busy machine may take long to open it.
    """
    found = []
    end = time.monotonic() + seconds
    while (now := time.monotonic()) < end:
        found.append((now - began, list(await page.evaluate(FINDINGS))))
        await asyncio.sleep(PERIOD_S)
    return found


async def take_pictures(page: Page, file: Path) -> None:
    """Take pictures of a page in each size and scheme; their names begin with that of a file."""
    for (width, height), scheme in product(SIZES, ("light", "dark")):
        await page.emulate(width, height, scheme)
        await asyncio.sleep(PERIOD_S)
        await page.picture(file.with_name(f"{file.name}-{width}-{scheme}.png"))


async def look_at(
    running: Running, incident: Incident, fault: bool, build: Path, options: argparse.Namespace
) -> list[tuple[float, list[str]]]:
    """Run a program and read what its page says."""
    seconds = options.fault_s + incident.begins_s if fault else options.healthy_s
    words = [word.format(build=build) for word in incident.program]
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
        pid = await asyncio.to_thread(stack.enter_context, incident.place(words, fault, folder))
        began = time.monotonic()
        target = target_of(running, incident, pid)
        try:
            async with open_page(running.url_of(f"/?target={target}")) as page:
                await page.until("document.querySelector('[data-panel=findings]') !== null")
                found = await read(page, began, seconds)
                if options.pictures:
                    twin = "" if fault else "-healthy"
                    await take_pictures(page, options.pictures / f"{incident.name}{twin}")
                return found
        finally:
            running.fetch(f"/targets/{target}", method="DELETE")


def judged(incident: Incident, found: Sequence[tuple[float, list[str]]]) -> dict[str, Any]:
    """Judge what was said of a program with its fault."""
    verdicts = [(at_s, incident.verdict(sentences)) for at_s, sentences in found]
    said_s = next((at_s for at_s, verdict in verdicts if verdict == "right"), None)
    if said_s is not None:
        said_s -= incident.begins_s
    if incident.silent_is_right:
        said_s = None
    # Findings come and go at their thresholds: the most frequent verdict of the last third counts.
    last = [verdict for _, verdict in verdicts[-len(verdicts) // 3 :]]
    return {
        "incident": incident.name,
        "verdict": max(set(last), key=last.count),
        "said_s": said_s,
        "findings": found[-1][1],
    }


async def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Look at all incidents; the figures."""
    chosen = [
        one
        for one in (*INCIDENTS, *SERVERS, *PROCESSES, *QUEUES, *UNSEEN)
        if not options.only or one.name in options.only
    ]
    rows: list[dict[str, Any]] = []
    alarms: list[dict[str, Any]] = []
    left_out = {one.name: why for one in chosen if (why := one.lacks())}
    with tempfile.TemporaryDirectory() as folder:
        built(Path(folder))
        for asked, more in ((False, ()), (True, ("--ask-programs",))):
            those = [one for one in chosen if one.asked == asked and one.name not in left_out]
            if not those:
                continue
            with tidscope(*more) as running:
                if options.fault_s > 0:
                    for incident in those:
                        rows.append(await tried(running, incident, Path(folder), options))
                if options.healthy_s > 0:
                    alarms += await twins(running, those, Path(folder), options)
    return figures(rows, alarms, left_out, options)


async def tried(
    running: Running, incident: Incident, folder: Path, options: argparse.Namespace
) -> dict[str, Any]:
    """Look at an incident; its row."""
    row = judged(incident, await look_at(running, incident, True, folder, options))
    say(options, incident.name, f"{row['verdict']}, {row['said_s']} s", row["findings"])
    return row


async def twins(
    running: Running, those: Sequence[Incident], folder: Path, options: argparse.Namespace
) -> list[dict[str, Any]]:
    """Look at healthy twins, some at a time: what was said, of each that something was said of."""
    slots = asyncio.Semaphore(options.together)

    async def alarms_of(incident: Incident) -> list[str]:
        async with slots:
            found = await look_at(running, incident, False, folder, options)
        every = (one for _, said in found for one in incident.false_alarms(said))
        # One sentence of each kind, whatever its numbers.
        false = sorted({NUMBER.sub("#", one): one for one in every}.values())
        say(options, f"{incident.name} healthy", f"{len(false)} false", false)
        return false

    found = await asyncio.gather(*(alarms_of(one) for one in those))
    return [
        {"incident": incident.name, "findings": false}
        for incident, false in zip(those, found, strict=True)
        if false
    ]


def figures(
    rows: Sequence[dict[str, Any]],
    alarms: Sequence[dict[str, Any]],
    left_out: dict[str, str],
    options: argparse.Namespace,
) -> dict[str, Any]:
    """Shares of verdicts, and the time until the right one is said."""
    said = sorted(one["said_s"] for one in rows if one["said_s"] is not None)
    shares = {
        verdict: round(sum(one["verdict"] == verdict for one in rows) / max(1, len(rows)), 3)
        for verdict in ("right", "symptom", "misleading", "silent")
    }
    return {
        "incidents": len(rows),
        **shares,
        "said_s_p95": said[min(len(said) - 1, int(0.95 * len(said)))] if said else None,
        "said_within_s": WITHIN_S,
        "false_alarms": len(alarms),
        "healthy_s": options.healthy_s,
        "left_out": left_out,
        "rows": list(rows),
        "alarms": list(alarms),
    }


def say(options: argparse.Namespace, name: str, verdict: str, findings: Sequence[str]) -> None:
    """Tell people how far it is; with --json on the standard error stream."""
    stream = sys.stderr if options.json else sys.stdout
    print("\n    ".join((f"{name}: {verdict}", *findings)), file=stream, flush=True)


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("only", nargs="*", help="names of incidents; all without")
    parser.add_argument(
        "--fault-s", type=float, default=FAULT_S, help="time for each fault; 0: only twins"
    )
    parser.add_argument(
        "--healthy-s", type=float, default=FAULT_S, help="time for each healthy twin; 0: none"
    )
    parser.add_argument("--together", type=int, default=1, help="twins that run at a time")
    parser.add_argument("--pictures", type=Path, help="folder for pictures of each page")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit("needs root, to attach")
    found = asyncio.run(measure(options))
    if options.json:
        json.dump(found, sys.stdout)
        print()
    else:
        print({key: value for key, value in found.items() if key not in ("rows", "alarms")})


if __name__ == "__main__":
    main()
