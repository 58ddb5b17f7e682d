"""The WebSocket to the backend: says hello, replays, sends frames, answers commands.

It reconnects for ever; sampling goes on meanwhile and is never slowed by it.
"""

import asyncio
import logging
import random
from collections.abc import Callable

from pydantic import BaseModel, TypeAdapter, ValidationError
from tidscope_wire import PROTOCOL_VERSION
from tidscope_wire.generated.models import (
    AttachCommand,
    CollectorCommand,
    CollectorHello,
    CollectorWelcome,
    DetachCommand,
    DoctorCommand,
    DoctorReply,
    DoctorReport,
    FramesLost,
    Host,
    ListProcessesCommand,
    ProcessesReply,
    RefusedReply,
    SetRateCommand,
    Target,
    TargetChanged,
    TargetForgotten,
    TargetReply,
)
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidURI

from tidscope_collector.attaching import RefusedError, Targets, refuse
from tidscope_collector.uplink.replay import Replay

log = logging.getLogger("tidscope.uplink")

Command = (
    CollectorWelcome
    | AttachCommand
    | DetachCommand
    | SetRateCommand
    | ListProcessesCommand
    | DoctorCommand
)
_COMMAND: TypeAdapter[Command] = TypeAdapter(CollectorCommand)
_BAD_MESSAGE = 4400
FIRST_WAIT_S, LONGEST_WAIT_S = 0.1, 5.0
ENDED_KEPT = 16


class Uplink:
    """Keeps the backend told.

    Args:
        url: ws:// or wss:// address of /ws/collector.
        secret: shown to the backend.
        host: what the hello says.
        targets: what commands act on.
        replay: frames that are kept; filled through `put`.
        examine: makes the doctor's report.
    """

    def __init__(
        self,
        url: str,
        secret: str,
        host: Host,
        targets: Targets,
        replay: Replay,
        examine: Callable[[], DoctorReport],
    ) -> None:
        self._url, self._secret, self._host = url, secret, host
        self._targets, self._replay, self._examine = targets, replay, examine
        self._wake = asyncio.Event()
        self._told: dict[str, str] = {}
        self._sent: dict[str, int] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def put(self, target: Target, seq: int, frame: bytes, key: bool) -> None:
        """Take a frame; call in the event loop."""
        self._replay.add(target.id, seq, frame, key=key)
        self._targets.note(target)
        self._wake.set()

    async def run(self) -> None:
        """Connect, and connect again, until cancelled."""
        wait = FIRST_WAIT_S
        while True:
            try:
                headers = {"Authorization": f"Bearer {self._secret}"}
                async with connect(
                    self._url,
                    additional_headers=headers,
                    compression=None,
                    max_size=4 * 1024 * 1024,
                    proxy=None,
                ) as link:
                    await self._greet(link)
                    log.info("connected to the backend")
                    wait = FIRST_WAIT_S
                    await self._serve(link)
            except ConnectionClosed as error:
                log.warning("the backend closed the connection: %s", error)
                if error.rcvd is not None and error.rcvd.code == _BAD_MESSAGE:
                    # What it refused would be refused again: go on behind it.
                    for target in self._replay.targets():
                        self._sent[target] = self._replay.last_seq(target)
                    wait = LONGEST_WAIT_S
            except (OSError, InvalidHandshake, InvalidURI, TimeoutError) as error:
                log.info("no backend at %s: %s", self._url, error)
            await asyncio.sleep(wait * random.SystemRandom().uniform(0.7, 1.3))
            wait = min(wait * 2, LONGEST_WAIT_S)

    async def _greet(self, link: ClientConnection) -> None:
        hello = CollectorHello(
            protocol=PROTOCOL_VERSION, host=self._host, targets=self._targets.known()
        )
        await link.send(hello.model_dump_json())
        answer = self._parse(await asyncio.wait_for(link.recv(), 10))
        if not isinstance(answer, CollectorWelcome):
            raise TimeoutError("the backend did not welcome us")
        self._told = {one.id: one.model_dump_json() for one in self._targets.known()}
        self._sent = {
            target: min(answer.resume.get(target, 0), self._replay.last_seq(target))
            for target in self._replay.targets()
        }

    async def _serve(self, link: ClientConnection) -> None:
        sender = asyncio.create_task(self._send_all(link))
        try:
            async for text in link:
                command = self._parse(text)
                if command is not None:
                    task = asyncio.create_task(self._answer(link, command))
                    self._tasks.add(task)
                    task.add_done_callback(self._tasks.discard)
        finally:
            sender.cancel()
            await asyncio.gather(sender, return_exceptions=True)

    async def _send_all(self, link: ClientConnection) -> None:
        while True:
            self._wake.clear()
            await self._tell_changes(link)
            more = True
            while more:
                more = False
                for target in self._replay.targets():
                    more |= await self._send_next(link, target)
            await self._tell_changes(link)
            await self._wake.wait()

    async def _send_next(self, link: ClientConnection, target: str) -> bool:
        sent = self._sent.get(target, 0)
        kept = self._replay.after(target, sent)
        if kept is None:
            return False
        if kept.seq > sent + 1:
            lost = FramesLost(
                target=target,
                from_seq=sent + 1,
                to_seq=kept.seq - 1,
                reason="the collector's replay buffer was full",
            )
            await link.send(lost.model_dump_json())
        await link.send(kept.frame)
        self._sent[target] = kept.seq
        return True

    async def _tell_changes(self, link: ClientConnection) -> None:
        for target in self._targets.known():
            text = target.model_dump_json()
            if self._told.get(target.id) != text:
                self._told[target.id] = text
                await link.send(TargetChanged(target=target).model_dump_json())
        ended = [one for one in self._targets.known() if one.state != "attached"]
        for target in ended[:-ENDED_KEPT]:
            self._targets.forget(target.id)
            self._replay.forget(target.id)
            self._told.pop(target.id, None)
            await link.send(TargetForgotten(target=target.id).model_dump_json())

    @staticmethod
    def _parse(text: str | bytes) -> Command | None:
        try:
            return _COMMAND.validate_json(text)
        except ValidationError as error:
            log.warning("the backend said what is not in the protocol: %s", error)
            return None

    async def _answer(self, link: ClientConnection, command: Command) -> None:
        if isinstance(command, CollectorWelcome):
            return
        reply: BaseModel
        try:
            reply = await asyncio.to_thread(self._carry_out, command)
        except RefusedError as error:
            reply = RefusedReply(request_id=command.request_id, problem=error.problem)
        except Exception as error:
            log.exception("a command failed")
            problem = refuse(
                "internal", 500, "The collector failed", repr(error), "Look at its log."
            ).problem
            reply = RefusedReply(request_id=command.request_id, problem=problem)
        if isinstance(reply, TargetReply):
            self._told[reply.target.id] = reply.target.model_dump_json()
        try:
            await link.send(reply.model_dump_json())
        except ConnectionClosed:
            log.info("the backend went before it had its answer")

    def _carry_out(self, command: Command) -> BaseModel:
        match command:
            case AttachCommand(request_id=number, pid=pid, start_ticks=start, rate_hz=rate):
                target, created = self._targets.attach(pid, start, rate)
                return TargetReply(request_id=number, target=target, created=created)
            case DetachCommand(request_id=number, target=name):
                target = self._targets.detach(name)
                return TargetReply(request_id=number, target=target, created=False)
            case SetRateCommand(request_id=number, target=name, rate_hz=rate):
                target = self._targets.set_rate(name, rate)
                return TargetReply(request_id=number, target=target, created=False)
            case ListProcessesCommand(request_id=number):
                return ProcessesReply(request_id=number, processes=self._targets.processes())
            case DoctorCommand(request_id=number):
                return DoctorReply(request_id=number, report=self._examine())
            case CollectorWelcome():
                raise TypeError("a welcome is no command")
