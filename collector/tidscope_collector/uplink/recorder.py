"""The connections to a recorder on this host, which gets every frame beside the backend.

It gives no commands, and never slows sampling down: beyond a bound its oldest frames are lost.
"""

from collections.abc import Callable
from typing import Protocol

from tidscope_wire.generated.models import Host, RefusedReply, Target, TargetReply
from tidscope_wire.problems import refusal

from tidscope_collector.uplink.commands import Command, Commands, Reply
from tidscope_collector.uplink.connection import Uplink
from tidscope_collector.uplink.frames import FramesLink
from tidscope_collector.uplink.sign_in import UNIX

CONFIRMED_BYTES = 4 * 1024 * 1024
"""Maximum size of frames that the recorder has confirmed, in bytes."""
WAITING_BYTES = 16 * 1024 * 1024
"""Maximum size of frames that wait for the recorder, in bytes; beyond it the oldest are lost."""
MAX_KEPT = 128
"""Maximum targets that the recorder knows; beyond it the oldest ended one is forgotten."""


class Targets(Protocol):
    """The collector's targets."""

    def all(self) -> list[Target]:
        """Return all targets, ended ones included."""
        ...


class RecorderTargets:
    """Targets that the recorder has to know: it may lack frames of some that the backend has.

    Args:
        targets: the collector's targets.
        frames: the recorder's data connection.
    """

    def __init__(self, targets: Targets, frames: FramesLink) -> None:
        self._targets, self._frames = targets, frames
        self._kept: dict[str, Target] = {}
        self._gone: set[str] = set()

    def all(self) -> list[Target]:
        """Return the targets, with ended ones that the collector has forgotten already."""
        now = {one.id: one for one in self._targets.all()}
        self._gone &= now.keys()
        self._kept |= {name: one for name, one in now.items() if name not in self._gone}
        old = [name for name in self._kept if name not in now]
        for name in old[: max(0, len(self._kept) - MAX_KEPT)]:
            self._frames.native.forget(name)
            del self._kept[name]
        return list(self._kept.values())

    def forget(self, name: str) -> None:
        """Forget an ended target whose frames were sent."""
        if self._kept.pop(name, None) is not None:
            self._gone.add(name)


class AnnouncingCommands:
    """Runs commands of the backend, and announces the targets that they begin to the recorder.

    Args:
        commands: runs them.
        announce: announces changes to the recorder.
    """

    def __init__(self, commands: Commands, announce: Callable[[], None]) -> None:
        self._commands, self._announce = commands, announce

    async def answer(self, command: Command) -> Reply:
        """Run a command, as `CommandHandler.answer` does."""
        reply = await self._commands.answer(command)
        if isinstance(reply, TargetReply):
            self._announce()
        return reply


class NoCommands:
    """Refuses every command."""

    async def answer(self, command: Command) -> Reply:
        """Return the refusal."""
        error = refusal("not-permitted", "a recorder gives no commands", "Ask the backend.")
        return RefusedReply(request_id=command.request_id, problem=error.problem)


def recorder_frames(path: str, host_id: str) -> FramesLink:
    """Make the data connection to the recorder that listens on a Unix socket."""
    return FramesLink(f"{UNIX}{path}", None, host_id, CONFIRMED_BYTES, WAITING_BYTES)


def recorder_uplink(path: str, host: Host, targets: Targets, frames: FramesLink) -> Uplink:
    """Make the control connection to that recorder."""
    known = RecorderTargets(targets, frames)
    return Uplink(f"{UNIX}{path}", None, host, known, NoCommands(), frames, name="recorder")
