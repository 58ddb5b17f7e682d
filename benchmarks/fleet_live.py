"""Live hosts over NATS on one machine: whether all stay, how many frames get lost or late on the
way to pages, and how much CPU time and memory that takes.

Hosts are simulated (`simulated_hosts.py`): the product's encoder makes frames (`made_program.py`:
five roles), made-up collectors pass them to the product's relays over Unix sockets, and relays
connect to a real nats-server, which checks a key for each host. All hosts of a process have the
same program, so their key frames fall into the same interval. One real backend keeps the totals by
role. Each page reads one host, and acknowledges frames as a browser's page does.

`hosts_live`: least number of hosts that were connected. `frames_sent_s`: frames that collectors
gave to relays; less than hosts times rate if the machine is too slow for the simulation.
`frames_lost`: numbers that a page misses; `frames_coalesced`: numbers that came as part of a later
frame. Lateness is measured from a collector to a page. `role_rows_s` counts rows of ten seconds, so
measure a multiple of that. CPU is in percent of one CPU; that of collectors is the simulation's
own. Run it with PYTHONPATH=tests.
"""

import argparse
import asyncio
import json
import re
import tempfile
import time
import urllib.request
from contextlib import ExitStack
from pathlib import Path

import psutil
from live_page import LivePage
from nats_servers import Servers
from running import TOKEN, Running, cpu, tidscope
from simulated_hosts import SimulatedHosts, host_name, target_id
from tidscope_backend.nats_link.kept_frames import header_of, read_frame

CONNECTED_S = 120.0
"""Timeout for the backend to know all hosts, in seconds."""
POLL_S = 0.5
"""Interval of questions about connected hosts, in seconds; a broken session takes a second."""
ACK_FRAMES, ACK_BYTES = 8, 1 << 16
"""Number and bytes of frames that a page acknowledges together, whichever it reaches first."""
TAKEN = re.compile(r'^tidscope_role_rows_total\{outcome="taken"\} (\S+)', re.MULTILINE)


class Reader:
    """A page that reads one host, and what it received since `begin`."""

    def __init__(self) -> None:
        self._last = 0
        self.lost, self.coalesced, self.late_ms = 0, 0, list[float]()

    def begin(self) -> None:
        """Forget what was received."""
        if not self._last:
            raise SystemExit("a page has no frame after the warm-up")
        self.lost, self.coalesced, self.late_ms = 0, 0, []

    async def run(self, address: str, host: int) -> None:
        """Read frames until cancelled."""
        async with LivePage(address.replace("http", "ws", 1), TOKEN) as page:
            received = unacked = unacked_bytes = 0
            await page.taken(received)
            await page.subscribe(target_id(host))
            async for message in page.socket:
                if isinstance(message, bytes):
                    self._take(message)
                    received, unacked = received + 1, unacked + 1
                    unacked_bytes += len(message)
                    if unacked >= ACK_FRAMES or unacked_bytes >= ACK_BYTES:
                        unacked = unacked_bytes = 0
                        await page.taken(received)

    def _take(self, data: bytes) -> None:
        frame = read_frame(data)
        self.late_ms.append(time.time() * 1e3 - header_of(data)["unix_us"] / 1e3)
        self.lost += max(0, frame.first_seq - self._last - 1)
        self.coalesced += frame.seq - frame.first_seq
        self._last = frame.seq


def role_rows(installation: Running) -> float:
    """Return the number of rows of totals by role that the backend has taken."""
    request = urllib.request.Request(
        f"{installation.address}/metrics", headers={"Authorization": f"Bearer {TOKEN}"}
    )
    with urllib.request.urlopen(request, timeout=120) as answer:
        found = TAKEN.search(answer.read().decode())
    return float(found[1]) if found else 0.0


def connected(installation: Running) -> int:
    """Return the number of connected hosts."""
    return int(installation.ask("/health")["collectors"])


def wait_connected(installation: Running, hosts: int) -> None:
    """Wait until all hosts are connected."""
    deadline = time.monotonic() + CONNECTED_S
    while connected(installation) < hosts:
        if time.monotonic() > deadline:
            raise SystemExit(f"not all hosts were connected within {CONNECTED_S:g} s")
        time.sleep(POLL_S)


async def measure(options: argparse.Namespace) -> dict[str, float]:
    """Return all figures."""
    hosts = range(options.hosts)
    with tempfile.TemporaryDirectory(prefix="fleet-") as name:
        folder = Path(name)
        async with Servers(folder, hosts=[host_name(host) for host in hosts]) as servers:
            with ExitStack() as held:
                key = folder / "backend.nk"
                key.touch(0o600)
                key.write_text(servers.keys["backend"].seed)
                fleet = ("--fleet", ",".join(servers.urls), "--fleet-key", str(key))
                folders = {"XDG_DATA_HOME": name, "XDG_STATE_HOME": name}
                installation = held.enter_context(
                    tidscope("--no-collector", "--keep-roles-days", "1", *fleet, **folders)
                )
                program = options.threads, options.rate, options.moving
                simulated = SimulatedHosts(held, options.hosts, options.processes, program)
                simulated.start(servers, name)
                wait_connected(installation, options.hosts)
                return await watch(installation, servers, simulated, options)


async def watch(
    installation: Running, servers: Servers, simulated: SimulatedHosts, options: argparse.Namespace
) -> dict[str, float]:
    """Read hosts for the warm-up and the measured time; return all figures."""
    subscribed = min(options.subscribed, options.hosts)
    readers = {place * options.hosts // subscribed: Reader() for place in range(subscribed)}
    reading = [
        asyncio.create_task(one.run(installation.address, host)) for host, one in readers.items()
    ]
    backend = installation.backend
    programs = {
        "backend": [backend],
        "nats": [psutil.Process(one.pid) for one in servers.processes],
        "relays": simulated.relays,
        "collectors": simulated.collectors,
    }

    def used() -> dict[str, float]:
        return {name: sum(map(cpu, group)) for name, group in programs.items()}

    await asyncio.sleep(options.warm_up)
    rows = await asyncio.to_thread(role_rows, installation)
    for one in readers.values():
        one.begin()
    began, sent, before = time.monotonic(), simulated.sent, used()
    live = options.hosts
    while (left := began + options.seconds - time.monotonic()) > 0:
        await asyncio.sleep(min(POLL_S, left))
        live = min(live, await asyncio.to_thread(connected, installation))
    took, sent, after = time.monotonic() - began, simulated.sent - sent, used()
    if any(task.done() for task in reading):
        raise SystemExit("the backend closed a page")
    for task in reading:
        task.cancel()
    await asyncio.gather(*reading, return_exceptions=True)
    rows = await asyncio.to_thread(role_rows, installation) - rows
    percent = {name: 100 * (after[name] - before[name]) / took for name in programs}
    late_ms = sorted(late for one in readers.values() for late in one.late_ms)
    memory = sum(one.memory_info().rss for one in simulated.relays)
    figures = {
        "hosts": options.hosts,
        "hosts_live": live,
        "threads": live * options.threads,
        "subscribed": subscribed,
        "rate_hz": options.rate,
        "moving": options.moving,
        "seconds": took,
        "frames_sent_s": sent / took,
        "frames_read_s": len(late_ms) / took,
        "frames_lost": sum(one.lost for one in readers.values()),
        "frames_coalesced": sum(one.coalesced for one in readers.values()),
        "frames_late_p50_ms": late_ms[len(late_ms) // 2],
        "frames_late_p95_ms": late_ms[len(late_ms) * 95 // 100],
        "backend_cpu_percent": percent["backend"],
        "nats_cpu_percent": percent["nats"],
        "relays_cpu_percent_per_host": percent["relays"] / options.hosts,
        "collectors_cpu_percent": percent["collectors"],
        "backend_rss_mb": backend.memory_info().rss / 1e6,
        "relays_rss_mb_per_host": memory / options.hosts / 1e6,
        "role_rows_s": rows / took,
    }
    return {name: round(value, 2) for name, value in figures.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hosts", type=int, default=500)
    parser.add_argument("--threads", type=int, default=200, help="threads of a host (%(default)s)")
    parser.add_argument("--rate", type=float, default=10, help="frames of a host a second")
    parser.add_argument("--moving", type=float, default=0.5, help="share of threads in a frame")
    parser.add_argument("--subscribed", type=int, default=20, help="hosts with a page")
    parser.add_argument("--warm-up", type=float, default=20, metavar="SECONDS")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--processes", type=int, default=2, help="of relays, and of collectors")
    parser.add_argument("--json", action="store_true")
    figures = asyncio.run(measure(options := parser.parse_args()))
    if options.json:
        print(json.dumps(figures))
    else:
        for name, value in figures.items():
            print(f"{name:28} {value:g}")


if __name__ == "__main__":
    main()
