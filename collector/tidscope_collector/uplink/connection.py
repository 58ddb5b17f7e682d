"""The control connection to the backend: hello, commands, replies, goodbye.

It reconnects indefinitely; sampling continues and is never slowed. Frames take the data connection,
which is allowed while this one stands.
"""

import asyncio
import logging
import random
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Never, Protocol

from tidscope_wire import PROTOCOL_VERSION
from tidscope_wire.generated.models import (
    CollectorGoodbye,
    CollectorHello,
    CollectorWelcome,
    Host,
    PolicyInfo,
    RefusedReply,
    RestoredProgram,
    Target,
    TargetChanged,
    TargetForgotten,
    TargetReply,
)
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidURI

from tidscope_collector.sampling.selfwatch import Load
from tidscope_collector.uplink.commands import Command, Commands, Fact, parse, reply_text
from tidscope_collector.uplink.frames import FramesLink
from tidscope_collector.uplink.reconnecting import (
    LONGEST_WAIT_S,
    Backoff,
    CloseReason,
    close_reason,
)
from tidscope_collector.uplink.sign_in import SignIn, SignInError, open_link

log = logging.getLogger("tidscope.uplink")

WELCOME_S = 10
GOODBYE_S = 1.0
FORGET_S = 1.0
"""Time until another attempt to forget ended targets whose frames are not sent, in seconds."""
ENDED_KEPT = 16
_OF_DECISIONS = {
    *("size", "state", "reason", "decisions", "ops_per_s", "interval_s"),
    "decided_unix_us",
}


class WelcomeError(Exception):
    """The backend's answer to the hello violates the protocol."""


class KnownTargets(Protocol):
    """Targets to report."""

    def all(self) -> list[Target]:
        """Return all targets, ended ones included."""
        ...

    def forget(self, target_id: str, /) -> None:
        """Forget an ended target whose frames were sent."""
        ...


class Uplink:
    """Keeps the backend informed.

    Args:
        url: ws:// or wss:// address of /ws/collector, or unix:PATH.
        sign_in: proves the secret to the backend, which proves it first; None for a Unix socket,
            protected by file permissions.
        host: host in the hello.
        targets: targets to report.
        commands: answers the backend's commands.
        frames: the data connection.
        pause: sleeps before the next attempt.
        policies: policies available for steering.
        restored: programs that an earlier collector left changed.
        name: what the other side is, for the log.
    """

    def __init__(
        self,
        url: str,
        sign_in: SignIn | None,
        host: Host,
        targets: KnownTargets,
        commands: Commands,
        frames: FramesLink,
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
        policies: Sequence[PolicyInfo] = (),
        restored: Sequence[RestoredProgram] = (),
        name: str = "backend",
    ) -> None:
        self._url, self._sign_in, self._host = url, sign_in, host
        self._targets, self._commands, self._frames = targets, commands, frames
        self._pause, self._name = pause, name
        self._policies, self._restored = list(policies), list(restored)
        self._wake = asyncio.Event()
        self._sent_targets: dict[str, Target] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._link: ClientConnection | None = None
        self._ends = False
        self._said = ""
        self._tasks: set[asyncio.Task[None]] = set()
        self._sent_bytes = 0

    def load(self) -> Load:
        """Return the load of both connections. Thread-safe."""
        load = self._frames.load()
        return replace(load, sent_bytes=load.sent_bytes + self._sent_bytes)

    def tell_changes(self) -> None:
        """Send what has changed of targets. Thread-safe."""
        if self._loop is not None:
            with suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(self._wake.set)

    async def deliver(self, seconds: float) -> int:
        """Announce the end, then wait up to `seconds` until a connected backend has all frames.

        Returns:
            Size of unconfirmed frames, in bytes.
        """
        self._ends = True
        await self._say_goodbye()
        return await asyncio.to_thread(self._frames.native.deliver, seconds)

    async def _say_goodbye(self) -> None:
        """Tell a connected backend that this collector ends on request."""
        if self._link is None or not self._ends:
            return
        goodbye = CollectorGoodbye(last=self._frames.native.last())
        with suppress(ConnectionClosed, TimeoutError, OSError):
            async with asyncio.timeout(GOODBYE_S):
                await self._give(self._link, goodbye.model_dump_json())

    async def run(self) -> None:
        """Connect and reconnect until cancelled; then wait for commands in progress."""
        backoff = Backoff()
        self._loop = asyncio.get_running_loop()
        try:
            while True:
                end, held_s = await self._connection()
                wait = backoff.wait_s(held_s, end.wait_s)
                await self._pause(wait * random.SystemRandom().uniform(0.7, 1.3))
        finally:
            await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _connection(self) -> tuple[CloseReason, float | None]:
        """Connect once.

        Returns:
            The reason for the end, and seconds since the welcome; None without a welcome.
        """
        clock = asyncio.get_running_loop().time
        welcomed: float | None = None
        try:
            async with open_link(self._url, self._sign_in) as link:
                ticket = await self._greet(link)
                welcomed = clock()
                self._link = link
                self._say(logging.INFO, f"connected to the {self._name}")
                self._frames.connect(ticket)
                await self._say_goodbye()
                await self._serve(link)
        except ConnectionClosed as error:
            end = close_reason(error)
            self._say(logging.WARNING, end.text)
        except SignInError as error:
            end = CloseReason(str(error), LONGEST_WAIT_S)
            self._say(logging.WARNING, end.text)
        except (OSError, InvalidHandshake, InvalidURI, WelcomeError) as error:
            end = CloseReason(f"no {self._name} at {self._url}: {error}")
            self._say(logging.INFO, end.text)
        except Exception as error:  # retrying is better than ending: frames are kept
            end = CloseReason(f"the uplink failed: {error!r}", LONGEST_WAIT_S)
            log.exception("the uplink failed")
        finally:
            self._link = None
            self._frames.disconnect()
        return end, None if welcomed is None else clock() - welcomed

    def _say(self, level: int, text: str) -> None:
        """Log an event; a repeat of the previous text is suppressed."""
        if text != self._said:
            self._said = text
            log.log(level, "%s", text)

    async def _greet(self, link: ClientConnection) -> str:
        """Say hello, and return the ticket of the data connection."""
        known = self._targets.all()
        hello = CollectorHello(
            protocol=PROTOCOL_VERSION,
            host=self._host,
            targets=known,
            policies=self._policies,
            restored=self._restored,
            unix_us=time.time_ns() // 1000,
        )
        await self._give(link, hello.model_dump_json())
        try:
            # asyncio.wait_for before Python 3.12 loses a cancellation that arrives with the answer.
            async with asyncio.timeout(WELCOME_S):
                answer = parse(await link.recv())
        except TimeoutError:
            raise WelcomeError(f"it did not answer the hello within {WELCOME_S} s") from None
        if not isinstance(answer, CollectorWelcome):
            raise WelcomeError("it did not answer the hello with a welcome")
        if answer.frames is None:
            raise WelcomeError("its welcome has no ticket for frames")
        # Changes since the hello still have to be sent.
        self._sent_targets = {one.id: one for one in known}
        return answer.frames

    async def _serve(self, link: ClientConnection) -> Never:
        """Send and receive until either fails, as both do when the connection ends."""
        tasks = [asyncio.create_task(self._tell_all(link)), asyncio.create_task(self._obey(link))]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        raise next(error for task in done if (error := task.exception()))

    async def _obey(self, link: ClientConnection) -> Never:
        while True:
            command = parse(await link.recv())
            if isinstance(command, RefusedReply):
                await self._give(link, command.model_dump_json())
            elif command is not None and not isinstance(command, Fact):
                task = asyncio.create_task(self._answer(link, command))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)

    async def _tell_all(self, link: ClientConnection) -> Never:
        while True:
            self._wake.clear()
            await self._tell_changes(link)
            unsent = self._forget_ended()
            with suppress(TimeoutError):
                async with asyncio.timeout(FORGET_S if unsent else None):
                    await self._wake.wait()

    async def _tell_changes(self, link: ClientConnection) -> None:
        for target in self._targets.all():
            sent = self._sent_targets.get(target.id)
            if sent is target:
                continue
            self._sent_targets[target.id] = target
            if sent is None or _without_decision(sent) != _without_decision(target):
                await self._give(link, TargetChanged(target=target).model_dump_json())

    def _forget_ended(self) -> bool:
        """Forget the oldest ended targets once their frames are sent.

        Returns:
            True if frames of one of them are not sent yet.
        """
        frames, unsent = self._frames.native, False
        ended = [one.id for one in self._targets.all() if one.state != "attached"]
        for target in ended[:-ENDED_KEPT]:
            # The message has to follow the target's frames, so it takes their connection.
            forgotten = TargetForgotten(target=target).model_dump_json()
            if not (frames.is_sent(target) and frames.say(forgotten)):
                unsent = True
                continue
            self._targets.forget(target)
            frames.forget(target)
            self._sent_targets.pop(target, None)
        return unsent

    async def _give(self, link: ClientConnection, message: str) -> None:
        await link.send(message)
        self._sent_bytes += len(message)

    async def _answer(self, link: ClientConnection, command: Command) -> None:
        reply = await self._commands.answer(command)
        text = await asyncio.to_thread(reply_text, reply)
        if isinstance(reply, TargetReply):
            # The reply announces the target.
            self._sent_targets[reply.target.id] = reply.target
        try:
            await self._give(link, text)
        except ConnectionClosed:
            log.info("the backend disconnected before the answer was sent")


def _without_decision(target: Target) -> str:
    """Return a target as text, without decision fields, which frames carry."""
    programs = {"__all__": {"steering": _OF_DECISIONS}}
    return target.model_dump_json(exclude={"steering": _OF_DECISIONS, "programs": programs})
