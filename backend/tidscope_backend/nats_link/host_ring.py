"""The ring of a host for backends of its fleet: what it has, and runs that are cut out of it.

Programs of its own read the ring. An archive is on the host's disk until a backend has it.
"""

import asyncio
import math
import secrets
import shutil
import time
from base64 import b64encode
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import TypeAdapter, ValidationError
from tidscope_wire.generated.models import (
    CutRingCommand,
    CutRingReply,
    ListRingCommand,
    ListRingReply,
    ReadCutCommand,
    ReadCutReply,
    RefusedReply,
    RingResponse,
    RingTrack,
)
from tidscope_wire.problems import ProblemError, refusal

from tidscope_backend.background_programs import ProgramFailedError, run_in_background
from tidscope_backend.processes import run_module
from tidscope_backend.ring.listing import FOLDER, ring_response, track_of_cut
from tidscope_backend.ring.status import read_status
from tidscope_backend.store.folder import new_run_id
from tidscope_backend.text import validation_text

WORK = ".sent"
"""Name of the folder of archives that are sent, in the runs directory."""
PIECE_BYTES = 1024 * 1024
MAX_CUTS = 4
"""Maximum archives that wait for backends; the oldest is removed."""
KEPT_S = 600.0
"""Time until an archive that no backend reads to its end is removed, in seconds."""
LISTED_S = 5.0
"""Time for which a list is given again, in seconds: making one starts a program."""
PROGRAM_S = 600.0
"""Timeout of a program, in seconds."""
SENDING = "tidscope_backend.ring.sending"
Reply = ListRingReply | CutRingReply | ReadCutReply | RefusedReply
_TRACKS = TypeAdapter(list[RingTrack])
_COMMANDS: Mapping[str, type[ListRingCommand | CutRingCommand | ReadCutCommand]] = {
    "list_ring_command": ListRingCommand,
    "cut_ring_command": CutRingCommand,
    "read_cut_command": ReadCutCommand,
}


def is_for_ring(command: Mapping[str, Any]) -> bool:
    """Return True for a command that a host's ring answers."""
    return command.get("type") in _COMMANDS


class _Cut(NamedTuple):
    archive: Path
    bytes: int
    made_s: float


class HostRing:
    """Answers commands about the ring of this host.

    Args:
        runs: the runs directory of the ring.
        status: descriptor of the record of the ring's process.
    """

    def __init__(self, runs: Path, status: int) -> None:
        self._ring, self._work, self._status = runs / FOLDER, runs / WORK, status
        self._listed: list[RingTrack] = []
        self._listed_s = -math.inf
        self._cuts: dict[str, _Cut] = {}
        self._one = asyncio.Lock()
        self.close()

    async def answer(self, message: Mapping[str, Any]) -> Reply:
        """Return the answer to a command of `is_for_ring`."""
        number = message["request_id"]
        try:
            command = _COMMANDS[message["type"]].model_validate(message)
            if isinstance(command, ReadCutCommand):
                return await self._piece(command)
            async with self._one:
                if isinstance(command, CutRingCommand):
                    return await self._cut(command)
                return ListRingReply(request_id=number, ring=await self._list())
        except ProblemError as error:
            problem = error.problem
        except ValidationError as error:
            problem = refusal(
                "bad-request", validation_text(error), "use the same version of tidscope on both"
            ).problem
        except (ProgramFailedError, OSError) as error:
            problem = refusal(
                "bad-run", f"the host could not send it: {error}", "try a shorter window"
            ).problem
        return RefusedReply(request_id=number, problem=problem)

    def close(self) -> None:
        """Remove all archives."""
        self._cuts.clear()
        shutil.rmtree(self._work, ignore_errors=True)

    async def _list(self) -> RingResponse:
        if time.monotonic() - self._listed_s > LISTED_S:
            await self._list_again()
        return ring_response(read_status(self._status), self._listed)

    async def _list_again(self) -> None:
        self._work.mkdir(mode=0o700, exist_ok=True)
        file = self._work / "tracks.json"
        await run_in_background(run_module(SENDING, "list", str(self._ring), str(file)), PROGRAM_S)
        self._listed = _TRACKS.validate_json(await asyncio.to_thread(file.read_bytes))
        self._listed_s = time.monotonic()

    async def _cut(self, command: CutRingCommand) -> CutRingReply:
        self._forget_old(room=1)
        cut = command.cut
        # The window may be newer than the last list.
        await self._list_again()
        track = self._ring / track_of_cut(self._listed, cut).id
        run_id = new_run_id(time.time())
        archive = self._work / f"{run_id}.tar.zst"
        window = str(cut.from_unix_us), str(cut.to_unix_us)
        arguments = (str(track), *window, cut.name or "", run_id, str(archive))
        try:
            await run_in_background(run_module(SENDING, "cut", *arguments), PROGRAM_S)
        except BaseException:
            archive.unlink(missing_ok=True)
            raise
        name = f"c-{secrets.token_hex(8)}"
        made = self._cuts[name] = _Cut(archive, archive.stat().st_size, time.monotonic())
        asyncio.get_running_loop().call_later(KEPT_S + 1, self._forget_old)
        return CutRingReply(request_id=command.request_id, cut=name, bytes=made.bytes)

    async def _piece(self, command: ReadCutCommand) -> ReadCutReply:
        cut = self._cuts.get(command.cut)
        if cut is None:
            raise refusal("unknown-target", "the host has this cut no more", "cut it again")
        data = await asyncio.to_thread(_read, cut.archive, command.offset)
        if command.offset + len(data) >= cut.bytes:
            self._forget(command.cut)
        text = b64encode(data).decode()
        return ReadCutReply(request_id=command.request_id, data=text)

    def _forget_old(self, room: int = 0) -> None:
        """Remove archives that nobody fetched, and the oldest ones to have room for more."""
        late_s = time.monotonic() - KEPT_S
        for name in [*self._cuts]:
            if self._cuts[name].made_s < late_s or len(self._cuts) + room > MAX_CUTS:
                self._forget(name)

    def _forget(self, name: str) -> None:
        cut = self._cuts.pop(name, None)
        if cut is not None:
            with suppress(OSError):
                cut.archive.unlink()


def _read(archive: Path, offset: int) -> bytes:
    with archive.open("rb") as file:
        file.seek(offset)
        return file.read(PIECE_BYTES)
