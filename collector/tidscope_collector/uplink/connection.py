"""The WebSocket to the backend: hello, replay, frames, commands.

It reconnects indefinitely; sampling continues and is never slowed.
"""

import asyncio
import logging
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Never

from tidscope_wire import PROTOCOL_VERSION
from tidscope_wire.generated.models import (
    CollectorGoodbye,
    CollectorHello,
    CollectorWelcome,
    FramesLost,
    FramesReceived,
    Host,
    PolicyInfo,
    RestoredProgram,
    Target,
    TargetChanged,
    TargetForgotten,
    TargetReply,
)
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidURI

from tidscope_collector.compiled.link import Link
from tidscope_collector.sampling.sampled_frame import SampledFrame
from tidscope_collector.sampling.selfwatch import Load
from tidscope_collector.sampling.usual_round import Collect
from tidscope_collector.targets.targets import TargetRegistry
from tidscope_collector.uplink.commands import Command, Commands, parse, reply_text
from tidscope_collector.uplink.direct import DirectSender, SharedConnection
from tidscope_collector.uplink.reconnecting import (
    LONGEST_WAIT_S,
    Backoff,
    CloseReason,
    close_reason,
)
from tidscope_collector.uplink.replay import InFlight, Replay
from tidscope_collector.uplink.sign_in import SignIn, SignInError, open_link

log = logging.getLogger("tidscope.uplink")

WELCOME_S = 10
GOODBYE_S = 1.0
BACKLOG, STALL = 0.25, 0.5
"""Shares of the bound on unconfirmed frames. Above the first the sampling rate is lowered. Above
the second no frames are made while a backend is connected."""
ENDED_KEPT = 16
_OF_DECISIONS = {
    *("size", "state", "reason", "decisions", "ops_per_s", "interval_s"),
    "decided_unix_us",
}


class WelcomeError(Exception):
    """The backend's answer to the hello violates the protocol."""


class Uplink:
    """Keeps the backend informed.

    Args:
        url: ws:// or wss:// address of /ws/collector, or unix:PATH.
        sign_in: proves the secret to the backend, which proves it first; None for a Unix socket,
            protected by file permissions.
        host: host in the hello.
        targets: targets to report.
        commands: answers the backend's commands.
        replay: kept frames; filled by `add_frame`.
        pause: sleeps before the next attempt.
        policies: policies available for steering.
        restored: programs that an earlier collector left changed.
    """

    def __init__(
        self,
        url: str,
        sign_in: SignIn | None,
        host: Host,
        targets: TargetRegistry,
        commands: Commands,
        replay: Replay,
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
        policies: Sequence[PolicyInfo] = (),
        restored: Sequence[RestoredProgram] = (),
    ) -> None:
        self._url, self._sign_in, self._host = url, sign_in, host
        self._targets, self._commands, self._replay = targets, commands, replay
        self._pause = pause
        self._policies, self._restored = list(policies), list(restored)
        self._wake = asyncio.Event()
        self._confirmed = asyncio.Event()
        self._sent_targets: dict[str, Target] = {}
        self._in_flight = InFlight()
        self._direct = DirectSender()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._link: SharedConnection | None = None
        self._refused: set[tuple[str, int]] = set()
        self._connected = self._ends = False
        self._said = ""
        self._tasks: set[asyncio.Task[None]] = set()
        self._sent_frames = 0
        self._sent_bytes = 0

    def load(self) -> Load:
        """Return the load of the uplink. Thread-safe."""
        return Load(
            replay_bytes=self._replay.size,
            replay_frames=self._replay.count,
            unsent_frames=self._replay.unsent,
            undelivered_bytes=self._replay.waiting_bytes + self._direct.held_bytes,
            backlog=self._replay.fill(self._direct.held_bytes) >= BACKLOG,
            dropped=self._dropped(),
            sent_frames=self._sent_frames,
            sent_bytes=self._sent_bytes,
        )

    def stalled(self) -> bool:
        """True if a connected backend is so slow that no frames should be made.

        Thread-safe.
        """
        return self._connected and self._replay.fill(self._direct.held_bytes) >= STALL

    def _dropped(self) -> Counter[str]:
        dropped = Counter(target for target, _ in list(self._refused))
        for target in self._replay.targets():
            dropped[target] += self._replay.dropped(target)
        return dropped

    def add_frame(self, target: Target, frame: SampledFrame) -> None:
        """Send or queue a frame. Call it from one thread only."""
        if self._direct.add(target, frame) and self._loop is not None:
            self._loop.call_soon_threadsafe(self._take_in)

    def begin(self, target: Target, seq: int, collect: Collect) -> Link | None:
        """See `FrameRounds.begin`."""
        return self._direct.begin(target, seq, collect)

    def end(self, message: memoryview) -> None:
        """See `FrameRounds.end`."""
        if self._direct.end(message) and self._loop is not None:
            self._loop.call_soon_threadsafe(self._take_in)

    def _take_in(self) -> None:
        """Keep handed-over frames, and send those that the sampling thread could not."""
        for target, frame, sent in self._direct.take():
            self._replay.add(target.id, frame)
            self._targets.update_by_frame(target, frame.seq)
            if sent:
                self._in_flight.add(target.id, frame.seq)
                self._replay.note_sent(target.id, frame.seq)
                self._sent_frames += 1
                self._sent_bytes += len(frame.data)
            else:
                self._wake.set()

    async def deliver(self, seconds: float) -> int:
        """Announce the end, then wait up to `seconds` until a connected backend has all frames.

        Returns:
            Size of unconfirmed frames, in bytes.
        """
        self._ends = True
        await self._say_goodbye()
        try:
            async with asyncio.timeout(seconds):
                self._take_in()
                while self._connected and self._replay.waiting_bytes:
                    self._confirmed.clear()
                    await self._confirmed.wait()
        except TimeoutError:
            pass
        return self._replay.waiting_bytes

    async def _say_goodbye(self) -> None:
        """Tell a connected backend that this collector ends on request."""
        if self._link is None or not self._ends:
            return
        self._take_in()
        last = {target: self._replay.last_seq(target) for target in self._replay.targets()}
        with suppress(ConnectionClosed, TimeoutError, OSError):
            async with asyncio.timeout(GOODBYE_S):
                await self._give(self._link, CollectorGoodbye(last=last).model_dump_json())

    async def run(self) -> None:
        """Connect and reconnect until cancelled."""
        backoff = Backoff()
        self._loop = asyncio.get_running_loop()
        self._take_in()
        while True:
            end, held_s = await self._connection()
            wait = backoff.wait_s(held_s, end.wait_s)
            await self._pause(wait * random.SystemRandom().uniform(0.7, 1.3))

    async def _connection(self) -> tuple[CloseReason, float | None]:
        """Connect once.

        Returns:
            The reason for the end, and seconds since the welcome; None without a welcome.
        """
        clock = asyncio.get_running_loop().time
        welcomed: float | None = None
        try:
            async with open_link(self._url, self._sign_in) as link:
                await self._greet(link)
                welcomed = clock()
                self._connected = True
                self._link = link
                self._say(logging.INFO, "connected to the backend")
                await self._say_goodbye()
                await self._serve(link)
        except ConnectionClosed as error:
            end = close_reason(error)
            self._take_in()
            if end.refused and (frame := self._in_flight.refused()):
                self._refused.add(frame)
            self._say(logging.WARNING, end.text)
        except SignInError as error:
            end = CloseReason(str(error), LONGEST_WAIT_S)
            self._say(logging.WARNING, end.text)
        except (OSError, InvalidHandshake, InvalidURI, WelcomeError) as error:
            end = CloseReason(f"no backend at {self._url}: {error}")
            self._say(logging.INFO, end.text)
        except Exception as error:  # frames are kept, so retrying is better than ending
            end = CloseReason(f"the uplink failed: {error!r}", LONGEST_WAIT_S)
            log.exception("the uplink failed")
        finally:
            self._direct.forbid()
            self._connected = False
            self._link = None
            self._confirmed.set()
        return end, None if welcomed is None else clock() - welcomed

    def _say(self, level: int, text: str) -> None:
        """Log an event; a repeat of the previous text is suppressed."""
        if text != self._said:
            self._said = text
            log.log(level, "%s", text)

    async def _greet(self, link: SharedConnection) -> None:
        known = self._targets.all()
        hello = CollectorHello(
            protocol=PROTOCOL_VERSION,
            host=self._host,
            targets=known,
            policies=self._policies,
            restored=self._restored,
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
        self._take_in()
        # Changes since the hello still have to be sent.
        self._sent_targets = {one.id: one for one in known}
        self._in_flight.connected(answer.resume)
        self._replay.connected(answer.resume)

    async def _serve(self, link: SharedConnection) -> Never:
        """Send and receive until either fails, as both do when the connection ends."""
        tasks = [asyncio.create_task(self._send_all(link)), asyncio.create_task(self._obey(link))]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        raise next(error for task in done if (error := task.exception()))

    async def _obey(self, link: SharedConnection) -> Never:
        while True:
            command = parse(await link.recv())
            if isinstance(command, FramesReceived):
                self._confirm(command)
            elif command is not None and not isinstance(command, CollectorWelcome):
                task = asyncio.create_task(self._answer(link, command))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)

    def _confirm(self, received: FramesReceived) -> None:
        self._take_in()
        for target, seq in received.targets.items():
            self._replay.confirm(target, seq)
        self._in_flight.confirm(received.targets)
        self._confirmed.set()

    async def _send_all(self, link: SharedConnection) -> Never:
        while True:
            self._wake.clear()
            self._take_in()
            await self._tell_changes(link)
            more = True
            while more:
                more = False
                for target in self._replay.targets():
                    more |= await self._send_next(link, target)
            await self._tell_changes(link)
            await self._forget_ended(link)
            self._take_in()
            if self._in_flight.is_unlimited:
                self._direct.allow(link, self._all_sent)
            await self._wake.wait()

    def _all_sent(self) -> dict[str, tuple[Target, int]]:
        """Return fully sent targets by ID, as the backend knows them, and last frame numbers."""
        sent = ((one, self._replay.sent(one)) for one in self._replay.targets())
        return {
            one: (self._sent_targets[one], seq)
            for one, seq in sent
            if one in self._sent_targets and seq == self._replay.last_seq(one)
        }

    async def _send_next(self, link: SharedConnection, target: str) -> bool:
        if target not in self._sent_targets:
            # The target is new; the backend accepts frames only of known targets.
            await self._tell_changes(link)
        await self._in_flight.room()
        sent = self._replay.sent(target)
        lost = self._replay.lost(target, sent)
        if lost is not None:
            await self._tell_lost(link, target, *lost, "the collector's replay buffer was full")
            return True
        kept = self._replay.after(target, sent)
        if kept is None:
            return False
        if (target, kept.seq) in self._refused:
            await self._tell_lost(link, target, kept.seq, kept.seq, "the backend rejected it")
            return True
        self._in_flight.add(target, kept.seq)
        self._replay.note_sent(target, kept.seq)
        await self._give(link, kept.data)
        self._sent_frames += 1
        return self._replay.last_seq(target) > kept.seq

    async def _tell_lost(
        self, link: SharedConnection, target: str, first: int, last: int, reason: str
    ) -> None:
        lost = FramesLost(target=target, from_seq=first, to_seq=last, reason=reason)
        self._replay.note_sent(target, last)
        await self._give(link, lost.model_dump_json())

    async def _tell_changes(self, link: SharedConnection) -> None:
        for target in self._targets.all():
            sent = self._sent_targets.get(target.id)
            if sent is target:
                continue
            self._sent_targets[target.id] = target
            if sent is None or _without_decision(sent) != _without_decision(target):
                await self._give(link, TargetChanged(target=target).model_dump_json())

    async def _forget_ended(self, link: SharedConnection) -> None:
        """Forget the oldest ended targets once the backend has all their frames."""
        ended = [one.id for one in self._targets.all() if one.state != "attached"]
        for target in ended[:-ENDED_KEPT]:
            if self._replay.sent(target) < self._replay.last_seq(target):
                continue
            self._targets.forget(target)
            self._replay.forget(target)
            self._in_flight.forget(target)
            self._sent_targets.pop(target, None)
            self._refused = {one for one in self._refused if one[0] != target}
            await self._give(link, TargetForgotten(target=target).model_dump_json())

    async def _give(self, link: SharedConnection, message: str | bytes) -> None:
        if isinstance(message, str):
            self._take_in()
            self._in_flight.add_text()
        await link.send(message)
        self._sent_bytes += len(message)

    async def _answer(self, link: SharedConnection, command: Command) -> None:
        reply = await self._commands.answer(command)
        text = await asyncio.to_thread(reply_text, reply)
        if isinstance(reply, TargetReply):
            # Frames of the target must follow the message that announces it.
            self._sent_targets[reply.target.id] = reply.target
        try:
            await self._give(link, text)
        except ConnectionClosed:
            log.info("the backend disconnected before the answer was sent")


def _without_decision(target: Target) -> str:
    """Return a target as text, without decision fields, which frames carry."""
    programs = {"__all__": {"steering": _OF_DECISIONS}}
    return target.model_dump_json(exclude={"steering": _OF_DECISIONS, "programs": programs})
