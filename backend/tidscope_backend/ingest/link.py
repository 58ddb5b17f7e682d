"""One connected collector: numbered commands out, replies routed back to the callers."""

import asyncio
import base64
import secrets
from collections.abc import Awaitable, Callable, Sequence
from itertools import count
from typing import TypeVar

from tidscope_wire.generated.models import (
    Actor,
    AttachCommand,
    AttachRequest,
    CutRingCommand,
    CutRingReply,
    DebugFilesCommand,
    DetachCommand,
    DoctorCommand,
    DoctorReply,
    FlushCommand,
    FlushReply,
    GroupSelector,
    Host,
    ListProcessesCommand,
    ListRingCommand,
    ListRingReply,
    NameThreadsCommand,
    PolicyInfo,
    ProcessesReply,
    ReadCutCommand,
    ReadCutReply,
    RefusedReply,
    ReleaseCommand,
    RenewSteeringCommand,
    RestartSearchCommand,
    RingCut,
    RingResponse,
    SampleStacksCommand,
    SetDelayAccountingCommand,
    SetRateCommand,
    SizeAuditCommand,
    SizeAuditReply,
    SpanThreadName,
    SteerCommand,
    SteeringOptionsCommand,
    SteeringOptionsReply,
    SteerRequest,
    TargetReply,
)
from tidscope_wire.generated.problems import PROBLEMS
from tidscope_wire.problems import PREFIX, ProblemError, refusal

from tidscope_backend.ingest.announced import AnnouncedTargets
from tidscope_backend.ingest.messages import DisconnectedError, Reply
from tidscope_backend.ingest.other_versions import Dialect
from tidscope_backend.store.disk import SharedReads

Command = (
    AttachCommand
    | DetachCommand
    | SetRateCommand
    | SampleStacksCommand
    | NameThreadsCommand
    | DebugFilesCommand
    | FlushCommand
    | ListProcessesCommand
    | DoctorCommand
    | SizeAuditCommand
    | SetDelayAccountingCommand
    | SteerCommand
    | RenewSteeringCommand
    | RestartSearchCommand
    | ReleaseCommand
    | SteeringOptionsCommand
    | ListRingCommand
    | CutRingCommand
    | ReadCutCommand
)
FLUSH_SECONDS = 60.0
CUT_SECONDS = 600.0
"""Timeout for cutting a run on its host, in seconds."""
TICKET_BYTES = 16
R = TypeVar("R", bound=Reply)


class FramesChannel:
    """A data connection, as its control connection sees it.

    Args:
        hurry: confirms frames at once from now on.

    Attributes:
        closing: set when the data connection has to end.
        ended: set when it has ended.
    """

    def __init__(self, hurry: Callable[[], None]) -> None:
        self.hurry = hurry
        self.closing, self.ended = asyncio.Event(), asyncio.Event()


class CollectorLink:
    """Link to a connected collector, as used by the rest of the backend.

    Args:
        host: host of the collector.
        send: sends one text message; raises DisconnectedError.
        close: closes the connection when a newer one replaces it.
        command_seconds: timeout for a reply.
        doctor_seconds: timeout for the doctor and for steering, which waits for a program.
        policies: policies that the collector supports.
        announced: targets that the collector has announced.

    Attributes:
        ticket: opens the data connection.
        dialect: reads the collector's messages.
        said_goodbye: whether the collector announced its end.
    """

    def __init__(
        self,
        host: Host,
        send: Callable[[str], Awaitable[None]],
        close: Callable[[], None],
        command_seconds: float,
        doctor_seconds: float,
        policies: Sequence[PolicyInfo],
        announced: AnnouncedTargets,
    ) -> None:
        self.host = host
        self.announced = announced
        self.dialect = Dialect(host)
        self.ticket = secrets.token_hex(TICKET_BYTES)
        self._frames: FramesChannel | None = None
        self.policies = list(policies)
        self.replace = close
        self.said_goodbye = False
        self._send = send
        self._command_seconds = command_seconds
        self._doctor_seconds = doctor_seconds
        self._numbers = count(1)
        self._waiting: dict[int, asyncio.Future[Reply]] = {}
        self._processes: SharedReads[ProcessesReply] = SharedReads()
        self._doctors: SharedReads[DoctorReply] = SharedReads()
        self._sizes: SharedReads[SizeAuditReply] = SharedReads()
        self._options: SharedReads[SteeringOptionsReply] = SharedReads()

    def open_frames(self, channel: FramesChannel) -> None:
        """Register the data connection; an older one is closed."""
        self.close_frames()
        self._frames = channel
        if self.said_goodbye:
            channel.hurry()

    def close_frames(self) -> None:
        """Close the data connection."""
        if self._frames is not None:
            self._frames.closing.set()

    async def frames_ended(self) -> None:
        """Wait until the data connection has ended."""
        if self._frames is not None:
            await self._frames.ended.wait()

    def say_goodbye(self) -> None:
        """Note that the collector has announced its end; its frames are confirmed at once."""
        self.said_goodbye = True
        if self._frames is not None:
            self._frames.hurry()

    async def attach(
        self, request: AttachRequest, actor: Actor, continues: str | None = None
    ) -> TargetReply:
        """Attach to a process or a group of processes.

        Args:
            request: process or group.
            actor: requesting user or service.
            continues: target of an earlier collector that the new target continues, or None.

        Raises:
            ProblemError: the collector refused or did not reply.
        """
        command = AttachCommand(
            request_id=next(self._numbers),
            pid=request.pid,
            start_ticks=request.start_ticks,
            group=request.group,
            rate_hz=request.rate_hz,
            role_rules=request.role_rules,
            actor=actor,
            continues=continues,
        )
        return await self._ask(command, TargetReply, self._command_seconds)

    async def detach(self, target: str, actor: Actor) -> TargetReply:
        """Stop sampling a target. Raises as `attach`."""
        command = DetachCommand(request_id=next(self._numbers), target=target, actor=actor)
        return await self._ask(command, TargetReply, self._command_seconds)

    async def set_rate(self, target: str, rate_hz: float, actor: Actor) -> TargetReply:
        """Change a target's rate. Raises as `attach`."""
        command = SetRateCommand(
            request_id=next(self._numbers), target=target, rate_hz=rate_hz, actor=actor
        )
        return await self._ask(command, TargetReply, self._command_seconds)

    async def sample_stacks(self, target: str, seconds: float, actor: Actor) -> TargetReply:
        """Take stacks of a target for a while. Raises as `attach`."""
        command = SampleStacksCommand(
            request_id=next(self._numbers), target=target, seconds=seconds, actor=actor
        )
        return await self._exchange(command, TargetReply, self._command_seconds)

    async def name_threads(self, target: str, names: list[SpanThreadName]) -> TargetReply:
        """Name threads of a target as spans name them. Raises as `attach`."""
        command = NameThreadsCommand(request_id=next(self._numbers), target=target, names=names)
        return await self._exchange(command, TargetReply, self._command_seconds)

    async def note_debug_files(self, target: str, build_ids: list[str]) -> TargetReply:
        """Have names asked for again, as debug files have come. Raises as `attach`."""
        command = DebugFilesCommand(
            request_id=next(self._numbers), target=target, build_ids=build_ids
        )
        return await self._exchange(command, TargetReply, self._command_seconds)

    async def flush(self, target: str) -> FlushReply:
        """Have the collector send all pending data of a target; return the last frame number.
        Raises as `attach`.

        The caller applies the timeout.
        """
        command = FlushCommand(request_id=next(self._numbers), target=target)
        return await self._exchange(command, FlushReply, FLUSH_SECONDS)

    async def processes(self) -> ProcessesReply:
        """List the processes of the host. Raises as `attach`."""
        command = ListProcessesCommand(request_id=next(self._numbers))
        return await self._processes.get(
            None, lambda: self._exchange(command, ProcessesReply, self._command_seconds)
        )

    async def doctor(self) -> DoctorReply:
        """Check the host's capabilities. Raises as `attach`."""
        command = DoctorCommand(request_id=next(self._numbers))
        return await self._doctors.get(
            None, lambda: self._exchange(command, DoctorReply, self._doctor_seconds)
        )

    async def sizes(self) -> SizeAuditReply:
        """Compare sizes of thread pools with the CPUs available to programs. Raises as `attach`."""
        command = SizeAuditCommand(request_id=next(self._numbers))
        return await self._sizes.get(
            None, lambda: self._exchange(command, SizeAuditReply, self._doctor_seconds)
        )

    async def set_delay_accounting(self, on: bool, actor: Actor) -> DoctorReply:
        """Switch the kernel's delay accounting on or off. Raises as `attach`."""
        command = SetDelayAccountingCommand(request_id=next(self._numbers), on=on, actor=actor)
        return await self._ask(command, DoctorReply, self._doctor_seconds)

    async def steering_options(
        self,
        target: str | None = None,
        pid: int | None = None,
        group: GroupSelector | None = None,
    ) -> SteeringOptionsReply:
        """Return the steering options of a target, process or group. Raises as `attach`."""
        command = SteeringOptionsCommand(
            request_id=next(self._numbers), target=target, pid=pid, group=group
        )
        asked = command.model_dump_json(exclude={"request_id"})
        return await self._options.get(
            asked, lambda: self._exchange(command, SteeringOptionsReply, self._doctor_seconds)
        )

    async def steer(
        self, target: str, request: SteerRequest, actor: Actor, restarts: str | None = None
    ) -> TargetReply:
        """Let a policy steer a target. Raises as `attach`.

        Args:
            target: target ID.
            request: policy and parameters.
            actor: requesting user or service.
            restarts: target of an earlier collector whose policy is restarted, or None.
        """
        command = SteerCommand(
            request_id=next(self._numbers),
            target=target,
            request=request,
            actor=actor,
            restarts=restarts,
        )
        return await self._ask(command, TargetReply, self._doctor_seconds)

    async def renew_steering(self, target: str) -> TargetReply:
        """Renew the lease of the target's steering, if any. Raises as `attach`."""
        command = RenewSteeringCommand(request_id=next(self._numbers), target=target)
        return await self._ask(command, TargetReply, self._command_seconds)

    async def restart_search(self, target: str, pid: int | None, actor: Actor) -> TargetReply:
        """Restart the policy's search; `pid` selects one program of a group. Raises as `attach`."""
        command = RestartSearchCommand(
            request_id=next(self._numbers), target=target, pid=pid, actor=actor
        )
        return await self._ask(command, TargetReply, self._command_seconds)

    async def release(self, target: str, pid: int | None, actor: Actor) -> TargetReply:
        """Stop steering; `pid` selects one program of a group. Raises as `attach`."""
        command = ReleaseCommand(
            request_id=next(self._numbers), target=target, pid=pid, actor=actor
        )
        return await self._ask(command, TargetReply, self._doctor_seconds)

    async def ring(self) -> RingResponse:
        """Return what the ring of the host has, with titles of processes. Raises as `attach`."""
        command = ListRingCommand(request_id=next(self._numbers))
        return (await self._exchange(command, ListRingReply, self._doctor_seconds)).ring

    async def cut_ring(self, cut: RingCut) -> CutRingReply:
        """Cut a run out of the ring of the host, and pack it there. Raises as `attach`."""
        command = CutRingCommand(request_id=next(self._numbers), cut=cut)
        return await self._exchange(command, CutRingReply, CUT_SECONDS)

    async def read_cut(self, cut: str, offset: int) -> bytes:
        """Return a piece of a cut, from an offset on. Raises as `attach`."""
        command = ReadCutCommand(request_id=next(self._numbers), cut=cut, offset=offset)
        reply = await self._exchange(command, ReadCutReply, self._doctor_seconds)
        try:
            return base64.b64decode(reply.data, validate=True)
        except ValueError:
            raise refusal("bad-run", "the host sent no base64", "try again") from None

    def deliver_reply(self, reply: Reply) -> bool:
        """Pass a reply to its caller. Return False if the caller has timed out or left."""
        future = self._waiting.get(reply.request_id)
        if future is None or future.done():
            return False
        future.set_result(reply)
        return True

    def fail_pending(self) -> None:
        """Fail all pending commands, because the connection ended."""
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(self._lost())

    def _lost(self) -> ProblemError:
        return refusal(
            "no-collector",
            f"the connection to the collector of {self.host.name} was lost",
            "it reconnects by itself; try again in a moment",
        )

    async def _ask(self, command: Command, expected: type[R], seconds: float) -> R:
        """Send a change, then invalidate cached reads."""
        try:
            return await self._exchange(command, expected, seconds)
        finally:
            for reads in (self._processes, self._doctors, self._sizes, self._options):
                reads.forget()

    async def _exchange(self, command: Command, expected: type[R], seconds: float) -> R:
        future: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._waiting[command.request_id] = future
        try:
            async with asyncio.timeout(seconds):
                await self._send(command.model_dump_json())
                reply = await future
        except DisconnectedError:
            raise self._lost() from None
        except TimeoutError:
            raise refusal(
                "collector-timeout",
                f"the collector of {self.host.name} did not answer the {command.type} "
                f"within {seconds:g} s",
                "see whether the collector is stuck or the machine overloaded, and try again",
            ) from None
        finally:
            del self._waiting[command.request_id]
        if isinstance(reply, RefusedReply):
            raise _refusal(reply, command)
        if not isinstance(reply, expected):
            raise refusal(
                "internal",
                f"the collector answered the {command.type} with a {reply.type}",
                "collector and backend may be of different versions; install the same one on both",
            )
        return reply


def _refusal(reply: RefusedReply, command: Command) -> ProblemError:
    """Return a collector's refusal unchanged if it is a known kind."""
    kind = reply.problem.type.removeprefix(PREFIX)
    known = next((row for name, row in PROBLEMS.items() if name == kind), None)
    if known and "collector" in known.raised_by and reply.problem.status == known.status:
        return ProblemError(reply.problem)
    return refusal(
        "internal",
        f"the collector refused the {command.type} as {kind} with status {reply.problem.status}, "
        "which is no refusal of a collector",
        "collector and backend may be of different versions; install the same one on both",
    )
