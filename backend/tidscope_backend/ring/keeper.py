"""`python -m tidscope_backend.ring.keeper`: the process that writes the ring of this host.

It is a backend that only records: it serves one collector over a Unix socket that it inherits. It
has no rights but to fill the ring's folder.
"""

import argparse
import asyncio
import logging
import os
import signal
import socket
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from tidscope_confinement import capabilities, landlock
from tidscope_wire.escaping import log_to_stderr
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed

from tidscope_backend.background_programs import ProgramFailedError, run_in_background
from tidscope_backend.connections.connection import CloseError
from tidscope_backend.host_registry import HostRegistry
from tidscope_backend.ingest.links import CollectorLinks
from tidscope_backend.ingest.messages import DisconnectedError
from tidscope_backend.ingest.served import ServedConnection
from tidscope_backend.ingest.session import CollectorSessions
from tidscope_backend.processes import run_module
from tidscope_backend.ring.bounds import Place
from tidscope_backend.ring.status import write_status
from tidscope_backend.ring.tracks import Tracks
from tidscope_backend.settings import Settings

FRAMES = "/frames"
"""End of the path of a data connection."""
CHECK_S = 1.0
BOUNDS_EVERY = 10
"""Checks between two looks at the bounds."""
SEAL_S = 300.0
"""Longest time that full parts stay as frames, in seconds: starting the sealer takes CPU time."""
SEAL_BYTES = 24 * 1024 * 1024
"""Bytes of full parts that are sealed at once."""
SEAL_TIMEOUT_S = 600.0
MAX_TRIES = 3
"""Attempts to seal a part; it stays as frames after them."""
SEALING = "tidscope_backend.recording.sealing"
_log = logging.getLogger(__name__)


class Keeper:
    """Serves the collector, seals parts and keeps the bounds.

    Args:
        folder: folder of the ring.
        max_bytes: bound on the bytes on disk.
        max_age_s: bound on the age of parts, in seconds.
        status: descriptor of the record for the backend.
        seal_s: longest time that full parts stay as frames, in seconds.
    """

    def __init__(
        self, folder: Path, max_bytes: int, max_age_s: float, status: int, seal_s: float = SEAL_S
    ) -> None:
        self._registry = HostRegistry(max_ended=64)
        self._tracks = Tracks(folder, self._registry, max_bytes, max_age_s)
        self._registry.subscribe(self._tracks.targets_changed, _ignore)
        self._status, self._seal_s = status, seal_s
        self._tries: dict[Place, int] = {}
        self._sealed_s = time.monotonic()
        settings = Settings(token="", collector_secret="", runs_dir=folder)
        links = CollectorLinks(lambda _: True)
        self._sessions = CollectorSessions(settings, self._registry, links, self._tracks)

    async def run(self, listening: socket.socket) -> None:
        """Serve until SIGTERM or SIGINT."""
        self._tracks.recover()
        self._tracks.status.pid = os.getpid()
        stopping = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, stopping.set)
        async with serve(self._session, sock=listening, compression=None, max_size=None):
            work = [asyncio.create_task(one) for one in (self._check_often(), self._seal_often())]
            ended = asyncio.create_task(stopping.wait())
            await asyncio.wait((*work, ended), return_when=asyncio.FIRST_COMPLETED)
            for task in (*work, ended):
                task.cancel()
            await asyncio.gather(*work, ended, return_exceptions=True)
        self._tracks.close()

    async def _session(self, connection: ServerConnection) -> None:
        is_data = connection.request is not None and connection.request.path.endswith(FRAMES)
        sessions = self._sessions.frames if is_data else self._sessions
        try:
            await sessions.serve(ServedConnection(connection))
        except CloseError as error:
            _log.warning("collector closed with %d: %s", error.code, error.reason)
            await connection.close(error.code, error.reason)
        except (DisconnectedError, ConnectionClosed):
            pass

    async def _check_often(self) -> None:
        checks = 0
        while True:
            if checks % BOUNDS_EVERY == 0:
                self._tracks.keep_bounds()
            write_status(self._status, self._tracks.status)
            checks += 1
            await asyncio.sleep(CHECK_S)

    async def _seal_often(self) -> None:
        while True:
            waiting = sorted(self._tracks.to_seal)
            if waiting and self._is_due(waiting):
                await self._seal(waiting)
                self._sealed_s = time.monotonic()
            await asyncio.sleep(CHECK_S)

    def _is_due(self, waiting: Sequence[Place]) -> bool:
        if time.monotonic() - self._sealed_s >= self._seal_s:
            return True
        size = 0
        for folder, number in waiting:
            with suppress(OSError):
                size += folder.open_part(number).stat().st_size
        return size >= SEAL_BYTES

    async def _seal(self, parts: Sequence[Place]) -> None:
        """Seal parts in one process; those that are still frames after it wait, or stay so."""
        arguments: list[str] = []
        for folder, number in parts:
            arguments += [str(folder.path), str(number)]
        failed = False
        try:
            await run_in_background(run_module(SEALING, *arguments), SEAL_TIMEOUT_S)
        except (ProgramFailedError, OSError) as error:
            failed = True
            self._tracks.status.unsealed += 1
            _log.warning("parts of the ring are not sealed: %s", error)
        for place in parts:
            if place not in self._tracks.to_seal:
                # Deleted meanwhile: files that the sealer wrote later must go, too.
                self._tracks.forget(place)
                continue
            tries = self._tries.get(place, 0) + 1
            still_open = place.folder.open_part(place.number).exists()
            if failed and still_open and tries < MAX_TRIES:
                self._tries[place] = tries
                if _lacks_room(place):
                    self._tracks.make_room()
            else:
                self._tries.pop(place, None)
                self._tracks.sealed(place)


def _lacks_room(place: Place) -> bool:
    """Return True if the disk may be too full for sealing a part."""
    try:
        size = place.folder.open_part(place.number).stat().st_size
        disk = os.statvfs(place.folder.path)
    except OSError:
        return False
    return disk.f_bavail * disk.f_frsize < size


def _ignore(_: str) -> None:
    """Do nothing."""


def confine(folder: Path) -> None:
    """Give up all rights but to read libraries and to fill the ring. Raises OSError."""
    capabilities.harden()
    capabilities.keep(frozenset())
    if landlock.abi():
        prefixes = (sys.base_prefix, sys.prefix, *filter(None, sys.path))
        system = ("/usr", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/localtime", "/proc", "/sys")
        read = tuple(Path(one) for one in (*prefixes, *system, "/dev/urandom"))
        landlock.restrict(
            landlock.Paths(
                read,
                write=(Path("/dev/null"),),
                own=(folder,),
                connect_ports=(),
                # The sealer is another process of this interpreter.
                execute=(Path(sys.executable).resolve(), *_loaders()),
            )
        )


def _loaders() -> Iterator[Path]:
    """Yield the loader of this interpreter's libraries."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        path = Path(line.split(maxsplit=5)[-1])
        if path.is_absolute() and path.name.startswith("ld-"):
            yield path


def main() -> int:
    """Serve a collector until a signal."""
    parser = argparse.ArgumentParser(prog="tidscope_ring")
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--socket-fd", type=int, required=True)
    parser.add_argument("--status-fd", type=int, required=True)
    parser.add_argument("--max-bytes", type=int, required=True)
    parser.add_argument("--max-age-s", type=float, required=True)
    parser.add_argument("--seal-s", type=float, default=SEAL_S)
    options = parser.parse_args()
    log_to_stderr("ring: %(message)s")
    logging.getLogger("websockets").setLevel(logging.WARNING)
    for descriptor in (options.socket_fd, options.status_fd):
        os.set_inheritable(descriptor, False)
    options.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    confine(options.folder)
    keeper = Keeper(
        *(options.folder, options.max_bytes, options.max_age_s, options.status_fd),
        options.seal_s,
    )
    asyncio.run(keeper.run(socket.socket(fileno=options.socket_fd)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
