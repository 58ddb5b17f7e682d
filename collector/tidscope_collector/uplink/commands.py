"""Commands of the backend: parsing, running, and bounded answers."""

import asyncio
import json
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from typing import TYPE_CHECKING, Protocol

from pydantic import TypeAdapter, ValidationError
from tidscope_wire.generated.models import (
    AttachCommand,
    CollectorCommand,
    CollectorWelcome,
    CutRingCommand,
    DebugFilesCommand,
    DetachCommand,
    DoctorCommand,
    DoctorReply,
    DoctorReport,
    FlushCommand,
    FlushReply,
    FramesReceived,
    FramesWatched,
    ListProcessesCommand,
    ListRingCommand,
    NameThreadsCommand,
    ProcessesReply,
    ReadCutCommand,
    RefusedReply,
    ReleaseCommand,
    RenewSteeringCommand,
    RestartSearchCommand,
    SampleStacksCommand,
    SetDelayAccountingCommand,
    SetRateCommand,
    SizeAuditCommand,
    SizeAuditReply,
    SteerCommand,
    SteeringOptionsCommand,
    SteeringOptionsReply,
    Target,
    TargetReply,
)
from tidscope_wire.problems import ProblemError, make_problem, refusal
from tidscope_wire.unknown_members import known_part

from tidscope_collector.procfs.delay_accounting import DelayAccounting, SwitchRefusedError
from tidscope_collector.targets.targets import MAX_TARGETS, TargetRegistry

if TYPE_CHECKING:
    from tidscope_collector.steering.commands import SteeringCommands
from tidscope_wire.generated.limits import MAX_REPLY_BYTES
from tidscope_wire.generated.models import Process

log = logging.getLogger("tidscope.uplink")

SteeringCommand = (
    SteerCommand
    | RenewSteeringCommand
    | RestartSearchCommand
    | ReleaseCommand
    | SteeringOptionsCommand
)
RingCommand = ListRingCommand | CutRingCommand | ReadCutCommand
"""Commands that the relay of a fleet answers: what the ring has does not concern the collector."""
Command = (
    AttachCommand
    | DetachCommand
    | SetRateCommand
    | FlushCommand
    | ListProcessesCommand
    | DoctorCommand
    | SizeAuditCommand
    | SetDelayAccountingCommand
    | SampleStacksCommand
    | NameThreadsCommand
    | DebugFilesCommand
    | SteeringCommand
    | RingCommand
)
RESTORING = ReleaseCommand | DetachCommand
"""Commands that restore a program's size. Each target has a thread for them, so slow commands
cannot delay them. Flushes have such threads too, because ending runs wait for them."""

Reply = (
    TargetReply
    | ProcessesReply
    | DoctorReply
    | SizeAuditReply
    | SteeringOptionsReply
    | FlushReply
    | RefusedReply
)
Fact = CollectorWelcome | FramesReceived | FramesWatched
Message = Command | Fact
_MESSAGE: TypeAdapter[Message] = TypeAdapter(CollectorCommand)
SHORT_COMMAND = 200
"""Length to which command lines are cut in a list that is too long, in characters."""
SHORT_FINDING = 2_000
"""Length to which texts are cut in a report that is too long, in characters."""


def parse(text: str | bytes) -> Message | RefusedReply | None:
    """Parse a message of a backend of any version.

    Facts are read without members that this version does not know. A command with such a member
    is refused, unless the member is null: it could change what is asked for.

    Returns:
        The message, or the refusal of a command that this version does not have; None, logged, if
        it is no command.
    """
    try:
        message, unknown = known_part(_MESSAGE, text)
        if not unknown or isinstance(message, Fact):
            return message
        return known_part(_MESSAGE, text, only_null=True)[0]
    except ValidationError as error:
        log.warning("the backend sent a message that is not in the protocol: %s", error)
        return _refusal(text)


def _refusal(text: str | bytes) -> RefusedReply | None:
    """Return the refusal of a command that is not in the protocol; None without its number."""
    try:
        command = json.loads(text)
        number, kind = command["request_id"], command["type"]
        problem = make_problem(
            "bad-request",
            f"the collector, tidscope {version('tidscope')}, does not know this {kind:.64}",
            "Install the same version of tidscope for collector and backend.",
        )
        return RefusedReply(request_id=number, problem=problem)
    except (KeyError, RecursionError, TypeError, ValueError):
        return None


class Commands(Protocol):
    """Handler of commands."""

    async def answer(self, command: Command) -> Reply:
        """Run a command; refusals and failures are answers too."""
        ...


class CommandHandler:
    """Runs commands.

    Args:
        targets: targets of the commands.
        examine: returns the doctor's report.
        delays: switch of delay accounting, or None if it cannot be set.
        steering: steers targets, or None without steering.
    """

    def __init__(
        self,
        targets: TargetRegistry,
        examine: Callable[[], DoctorReport],
        delays: DelayAccounting | None = None,
        steering: "SteeringCommands | None" = None,
    ) -> None:
        self._targets, self._examine, self._delays = targets, examine, delays
        self._steering = steering
        self._restoring = ThreadPoolExecutor(MAX_TARGETS, "restore")
        self._flushing = ThreadPoolExecutor(MAX_TARGETS, "flush")

    async def answer(self, command: Command) -> Reply:
        """Run a command in a worker thread; refusals and failures are answers too."""
        try:
            loop = asyncio.get_running_loop()
            executor = self._restoring if isinstance(command, RESTORING) else None
            executor = self._flushing if isinstance(command, FlushCommand) else executor
            return await loop.run_in_executor(executor, self._carry_out, command)
        except ProblemError as error:
            return RefusedReply(request_id=command.request_id, problem=error.problem)
        except Exception as error:
            log.exception("a command failed")
            problem = make_problem(
                "internal", f"the collector failed: {error!r}", "Look at the collector's log."
            )
            return RefusedReply(request_id=command.request_id, problem=problem)

    def _carry_out(self, command: Command) -> Reply:
        match command:
            case AttachCommand(request_id=number):
                target, created = self._attach(command)
                return TargetReply(request_id=number, target=target, created=created)
            case (
                DetachCommand()
                | SetRateCommand()
                | SampleStacksCommand()
                | NameThreadsCommand()
                | DebugFilesCommand()
            ):
                target = self._change(command)
                return TargetReply(request_id=command.request_id, target=target, created=False)
            case FlushCommand(request_id=number, target=name):
                flushed = self._targets.flush(name)
                return FlushReply(request_id=number, seq=flushed.seq, exited=flushed.exited)
            case ListProcessesCommand() | SizeAuditCommand():
                return self._list(command)
            case DoctorCommand() | SetDelayAccountingCommand():
                if isinstance(command, SetDelayAccountingCommand):
                    self._switch(command.on)
                return DoctorReply(request_id=command.request_id, report=self._examine())
            case ListRingCommand() | CutRingCommand() | ReadCutCommand():
                raise refusal(
                    "no-ring",
                    "kept minutes come from hosts of a fleet alone",
                    "Cut a run on the host, by `tidscope runs cut`, or start its collector with "
                    "--fleet.",
                )
            case _:
                return self._steer(command, self._required_steering())

    def _list(self, command: ListProcessesCommand | SizeAuditCommand) -> Reply:
        number = command.request_id
        if isinstance(command, SizeAuditCommand):
            return SizeAuditReply(request_id=number, audit=self._targets.audit_sizes())
        return ProcessesReply(request_id=number, processes=self._targets.processes())

    def _change(
        self,
        command: DetachCommand
        | SetRateCommand
        | SampleStacksCommand
        | NameThreadsCommand
        | DebugFilesCommand,
    ) -> Target:
        if isinstance(command, DebugFilesCommand):
            return self._targets.note_debug_files(command.target, command.build_ids)
        if isinstance(command, NameThreadsCommand):
            names = {(one.pid, one.tid): one.name for one in reversed(command.names)}
            return self._targets.name_threads(command.target, names)
        if isinstance(command, SampleStacksCommand):
            return self._targets.sample_stacks(command.target, command.seconds)
        if isinstance(command, SetRateCommand):
            return self._targets.set_rate(command.target, command.rate_hz)
        if self._steering is not None:
            self._steering.leave(command.target)
        return self._targets.detach(command.target)

    def _attach(self, command: AttachCommand) -> tuple[Target, bool]:
        target, created = self._attach_new(command)
        if created and command.continues is not None:
            target = self._targets.continue_from(target, command.continues)
        return target, created

    def _attach_new(self, command: AttachCommand) -> tuple[Target, bool]:
        rules = command.role_rules or ()
        if command.group is not None and command.pid is None:
            return self._targets.attach_group(command.group, command.rate_hz, rules)
        if command.pid is None or command.group is not None:
            raise refusal("bad-group", "either a process or a group is attached to", "Name one.")
        return self._targets.attach(command.pid, command.start_ticks, command.rate_hz, rules)

    @staticmethod
    def _steer(
        command: SteeringCommand, steering: "SteeringCommands"
    ) -> TargetReply | SteeringOptionsReply:
        number = command.request_id
        match command:
            case SteeringOptionsCommand(target=None, pid=pid, group=group):
                options = steering.ask(pid, group)
                return SteeringOptionsReply(request_id=number, options=options)
            case SteeringOptionsCommand(target=str(asked)):
                options = steering.options(asked)
                return SteeringOptionsReply(request_id=number, options=options)
            case SteerCommand(target=name, request=request, actor=actor):
                target = steering.steer(name, request, actor)
            case RenewSteeringCommand(target=name):
                target = steering.renew(name)
            case RestartSearchCommand(target=name, pid=pid, actor=actor):
                target = steering.restart(name, pid, actor.label)
            case ReleaseCommand(target=name, pid=pid, actor=actor):
                target = steering.release(name, pid, actor.label)
            case _:
                raise TypeError(command)
        return TargetReply(request_id=number, target=target, created=False)

    def _required_steering(self) -> "SteeringCommands":
        if self._steering is None:
            raise refusal(
                "not-steerable",
                "this collector was started without steering",
                "Start it by `tidscope up` or `tidscope collect`.",
            )
        return self._steering

    def _switch(self, on: bool) -> None:
        try:
            if self._delays is None:
                raise SwitchRefusedError("this collector sets no switches", "Set it on the host.")
            self._delays.set(on)
        except SwitchRefusedError as error:
            raise refusal("not-permitted", str(error), error.hint) from None


def reply_text(reply: Reply, most_bytes: int = MAX_REPLY_BYTES) -> str:
    """Return an answer as text, cut to at most `most_bytes`, with a note if it is cut."""
    text = reply.model_dump_json()
    if _size(text) > most_bytes:
        if isinstance(reply, ProcessesReply):
            text = _cut_processes(reply, most_bytes).model_dump_json()
        elif isinstance(reply, DoctorReply):
            text = _cut_report(reply).model_dump_json()
    size = _size(text)
    if size > most_bytes:
        problem = make_problem(
            "internal",
            f"the answer has {size:,} bytes, and a message holds {most_bytes:,}",
            "Look at the collector's host itself.",
        )
        text = RefusedReply(request_id=reply.request_id, problem=problem).model_dump_json()
    return text


def _size(text: str) -> int:
    return len(text.encode())


def _cut_processes(reply: ProcessesReply, most_bytes: int) -> ProcessesReply:
    """Cut command lines; if that is not enough, leave out processes, small ones first."""
    short = [_with_short_command(one) for one in reply.processes]
    note = f"Command lines are cut to {SHORT_COMMAND} characters: the list is too long."
    cut = ProcessesReply(request_id=reply.request_id, processes=short, note=note)
    if _size(cut.model_dump_json()) <= most_bytes:
        return cut
    room = most_bytes - 1_000
    kept: list[Process] = []
    for process in sorted(short, key=_weight, reverse=True):
        room -= _size(process.model_dump_json()) + 1
        if room < 0:
            break
        kept.append(process)
    note = (
        f"{len(kept):,} of {len(short):,} processes are listed, those that can be attached to and "
        f"have the most threads first, with up to {SHORT_COMMAND} characters of their command "
        f"lines: a message holds {most_bytes:,} bytes."
    )
    kept.sort(key=lambda process: process.pid)
    return ProcessesReply(request_id=reply.request_id, processes=kept, note=note)


def _weight(process: Process) -> tuple[bool, int, int]:
    return process.refusal is None, process.threads, process.rss_bytes or 0


def _with_short_command(process: Process) -> Process:
    command = process.command
    if command is None or len(command) <= SHORT_COMMAND:
        return process
    return process.model_copy(update={"command": command[:SHORT_COMMAND] + "…"})


def _cut_report(reply: DoctorReply) -> DoctorReply:
    """Cut the texts of the checks."""
    checks = [
        check.model_copy(
            update={name: _short(getattr(check, name)) for name in ("finding", "impact", "fix")}
        )
        for check in reply.report.checks
    ]
    return reply.model_copy(update={"report": reply.report.model_copy(update={"checks": checks})})


def _short(text: str) -> str:
    if len(text) <= SHORT_FINDING:
        return text
    return f"{text[:SHORT_FINDING]}… ({len(text) - SHORT_FINDING:,} more characters)"
