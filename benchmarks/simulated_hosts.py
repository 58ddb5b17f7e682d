"""Simulated hosts of a fleet: the product's relays, and a made-up collector for each.

Relays and collectors run in different processes, since the collectors' cost is the simulation's.
"""

import asyncio
import json
import multiprocessing
import re
import tempfile
import time
from collections.abc import Callable
from contextlib import AsyncExitStack, ExitStack
from multiprocessing.connection import Connection
from multiprocessing.sharedctypes import Synchronized
from typing import Any

import psutil
from made_program import MadeProgram
from nats_servers import Servers
from tidscope_backend.ingest.private_socket import open_private_socket
from tidscope_backend.nats_link.bus import Bus
from tidscope_backend.nats_link.host_relay import HostRelay
from tidscope_backend.processes import raise_descriptor_limit
from tidscope_backend.settings import FleetSettings
from tidscope_collector.uplink.frames import FRAMES, UNIX_PATH
from tidscope_wire import PROTOCOL_VERSION
from tidscope_wire.generated.models import (
    CollectorFrames,
    CollectorHello,
    CollectorWelcome,
    RefusedReply,
)
from tidscope_wire.problems import make_problem
from websockets.asyncio.client import ClientConnection, unix_connect

SPAWN = multiprocessing.get_context("spawn")
MADE_UP = make_problem("not-steerable", "the program is made up", "Steer a real one.")
PARTS = re.compile(rb'(.*?"target":")[^"]+(".*?"unix_us":)\d+(.*)', re.DOTALL)
"""A frame around its target and its time, whose lengths are the same for all hosts."""


def host_name(host: int) -> str:
    """Return the name of a host."""
    return f"host-{host}"


def target_id(host: int) -> str:
    """Return the target ID of a host, as long as that of a made-up program."""
    return f"t-1-{host:08x}"


def relay_hosts(parent: Connection, settings: dict[int, FleetSettings], folder: str) -> None:
    """Run relays until the process is killed; tell the parent the paths of their sockets."""

    async def run() -> None:
        with ExitStack() as held:
            sockets = {host: held.enter_context(open_private_socket()) for host in settings}
            parent.send({host: one.getsockname() for host, one in sockets.items()})
            async with asyncio.TaskGroup() as tasks:
                for host, one in settings.items():
                    name = host_name(host)
                    relay = HostRelay(name, Bus(one, f"host {name}"), one)
                    tasks.create_task(relay.run(sockets[host]))

    raise_descriptor_limit()
    tempfile.tempdir = folder
    asyncio.run(run())


class Collectors:
    """Made-up collectors of several hosts, all with the same program.

    Args:
        program: program whose frames are sent.
        sent: number of frames sent.
    """

    def __init__(self, program: MadeProgram, sent: "Synchronized[int]") -> None:
        self._program, self._sent = program, sent
        self._links: dict[bytes, ClientConnection] = {}

    async def run(self, paths: dict[int, str], connected: Callable[[], None]) -> None:
        """Connect to the relays at the paths, then send frames until a connection ends."""
        async with AsyncExitStack() as held, asyncio.TaskGroup() as readers:
            for host, path in paths.items():
                url = f"ws://localhost{UNIX_PATH}"
                control, frames = [
                    await held.enter_async_context(unix_connect(path, one, compression=None))
                    for one in (url, url + FRAMES)
                ]
                await self._greet(host, control, frames)
                readers.create_task(_refuse(control))
                readers.create_task(_discard(frames))
                self._links[target_id(host).encode()] = frames
            connected()
            await self._send()

    async def _greet(self, host: int, control: ClientConnection, frames: ClientConnection) -> None:
        facts = {"id": f"h-{host:012x}", "name": host_name(host)}
        machine = self._program.host.model_copy(update=facts)
        facts = {"id": target_id(host), "host": machine.id}
        target = self._program.target.model_copy(update=facts)
        version = PROTOCOL_VERSION
        hello = CollectorHello(protocol=version, host=machine, targets=[target], policies=[])
        await control.send(hello.model_dump_json())
        ticket = CollectorWelcome.model_validate_json(await control.recv()).frames
        assert ticket is not None
        opening = CollectorFrames(protocol=version, host=machine.id, ticket=ticket)
        await frames.send(opening.model_dump_json())
        CollectorWelcome.model_validate_json(await frames.recv())

    async def _send(self) -> None:
        """Send a frame of each host once an interval, spread over the interval."""
        clock = asyncio.get_running_loop().time
        due, step = clock(), 1 / self._program.target.rate_hz / len(self._links)
        while True:
            parts = PARTS.fullmatch(self._program.next_frame())
            assert parts is not None
            before, between, behind = parts.groups()
            for target, link in self._links.items():
                await asyncio.sleep(max(0.0, due - clock()))
                now = b"%d" % (time.time_ns() // 1000)
                await link.send(b"".join((before, target, between, now, behind)))
                self._sent.value += 1
                due += step


async def _refuse(control: ClientConnection) -> None:
    async for message in control:
        number = json.loads(message).get("request_id")
        if number is not None:
            await control.send(RefusedReply(request_id=number, problem=MADE_UP).model_dump_json())


async def _discard(frames: ClientConnection) -> None:
    async for _ in frames:
        pass


def collect(
    parent: Connection,
    paths: dict[int, str],
    program: tuple[int, float, float],
    sent: "Synchronized[int]",
) -> None:
    """Run collectors until the process is killed; tell the parent once all are connected.

    Args:
        parent: connection to the parent.
        paths: path of the relay's socket of each host.
        program: threads, rate and moving share of the program.
        sent: number of frames sent.
    """
    raise_descriptor_limit()
    collectors = Collectors(MadeProgram(*program), sent)
    asyncio.run(collectors.run(paths, lambda: parent.send(None)))


class SimulatedHosts:
    """Simulated hosts in processes that end with `held`.

    Args:
        held: ends the processes.
        hosts: number of hosts.
        processes: number of processes of relays, and of collectors.
        program: threads, rate and moving share of the hosts' program.

    Attributes:
        relays: processes of relays.
        collectors: processes of made-up collectors.
    """

    def __init__(
        self, held: ExitStack, hosts: int, processes: int, program: tuple[int, float, float]
    ) -> None:
        self._held, self._program = held, program
        self._hosts, self._processes = hosts, min(hosts, processes)
        self.relays: list[psutil.Process] = []
        self.collectors: list[psutil.Process] = []
        self._counts: list[Synchronized[int]] = []

    @property
    def sent(self) -> int:
        """Number of frames that collectors have given to relays."""
        return sum(one.value for one in self._counts)

    def start(self, servers: Servers, folder: str) -> None:
        """Start all processes; the collectors are connected to their relays at the end."""
        paths = list[Connection]()
        for first in range(self._processes):
            hosts = range(first, self._hosts, self._processes)
            settings = {
                host: FleetSettings(servers.urls, servers.keys[host_name(host)].seed)
                for host in hosts
            }
            paths.append(self._run(self.relays, relay_hosts, settings, folder))
        connected = []
        for one in paths:
            self._counts.append(SPAWN.Value("Q"))
            work = one.recv(), self._program, self._counts[-1]
            connected.append(self._run(self.collectors, collect, *work))
        for one in connected:
            one.recv()

    def _run(
        self, group: list[psutil.Process], work: Callable[..., None], *arguments: Any
    ) -> Connection:
        """Run a function in a process of its own; return what it says."""
        own, other = SPAWN.Pipe()
        started = SPAWN.Process(target=work, args=(other, *arguments), daemon=True)
        started.start()
        self._held.callback(started.join)
        self._held.callback(started.kill)
        other.close()
        group.append(psutil.Process(started.pid))
        return own
