"""Commands that change something, logged to the audit log."""

import json
from collections.abc import Iterable

from tidscope_wire.audit import AuditTrail
from tidscope_wire.generated.models import (
    AttachCommand,
    AuditAction,
    AuditOutcome,
    DetachCommand,
    RefusedReply,
    ReleaseCommand,
    RestartSearchCommand,
    SetDelayAccountingCommand,
    SetRateCommand,
    SteerCommand,
    Target,
    TargetReply,
)
from tidscope_wire.groups import selector_text
from tidscope_wire.problems import PREFIX, make_problem

from tidscope_collector.targets.targets import TargetRegistry
from tidscope_collector.uplink.commands import Command, Commands, Reply

ChangingCommand = (
    AttachCommand
    | DetachCommand
    | SetRateCommand
    | SetDelayAccountingCommand
    | SteerCommand
    | RestartSearchCommand
    | ReleaseCommand
)
ACTIONS: dict[type[ChangingCommand], AuditAction] = {
    AttachCommand: "attach",
    DetachCommand: "detach",
    SetRateCommand: "set-rate",
    SetDelayAccountingCommand: "set-delay-accounting",
    SteerCommand: "steer",
    RestartSearchCommand: "restart-search",
    ReleaseCommand: "release",
}
LOGGED_BEFORE = SteerCommand | RestartSearchCommand | SetDelayAccountingCommand
"""Commands that change a program or the kernel; refused if the log cannot be written first.

All other commands run with or without a log: a full disk must not prevent observing the host or
releasing a program.
"""


class AuditedCommands:
    """A command handler that logs each change.

    Args:
        commands: handler that runs the commands.
        targets: targets, for the names of their processes.
        audit: audit log.
    """

    def __init__(self, commands: Commands, targets: TargetRegistry, audit: AuditTrail) -> None:
        self._commands, self._targets, self._audit = commands, targets, audit

    async def answer(self, command: Command) -> Reply:
        """Run a command, as `CommandHandler.answer` does."""
        if not isinstance(command, ChangingCommand):
            return await self._commands.answer(command)
        action, asked = ACTIONS[type(command)], dict(_details(command))
        name, process = self._object(command)
        if isinstance(command, LOGGED_BEFORE):
            failure = await self._audit.write(
                action, "started", command.actor, name, asked | process
            )
            if failure is not None:
                problem = make_problem(
                    "audit-failed",
                    str(failure),
                    "Make room, or let the collector write there; a release always works.",
                )
                return RefusedReply(request_id=command.request_id, problem=problem)
        reply = await self._commands.answer(command)
        outcome: AuditOutcome = "done"
        if isinstance(reply, RefusedReply):
            kind = reply.problem.type.removeprefix(PREFIX)
            outcome = "failed" if kind == "internal" else "refused"
            asked |= {"problem": kind, "detail": reply.problem.detail}
        elif isinstance(reply, TargetReply):
            name, process = reply.target.id, _process(reply.target)
        await self._audit.write(action, outcome, command.actor, name, asked | process)
        return reply

    def _object(self, command: ChangingCommand) -> tuple[str | None, dict[str, str]]:
        """Return the name of the command's object, and its process."""
        if isinstance(command, AttachCommand):
            if command.group is not None:
                return selector_text(command.group), {}
            return f"process {command.pid}", {}
        if isinstance(command, SetDelayAccountingCommand):
            return "kernel.task_delayacct", {}
        found = next((each for each in self._targets.all() if each.id == command.target), None)
        return command.target, {} if found is None else _process(found)


def _process(target: Target) -> dict[str, str]:
    process = target.process
    return {
        "pid": str(process.pid),
        "start_ticks": str(process.start_ticks),
        "process": process.name,
        "user": process.user,
    }


def _details(command: ChangingCommand) -> Iterable[tuple[str, str]]:
    """Yield the command's parameters."""
    match command:
        case AttachCommand(rate_hz=rate) | SetRateCommand(rate_hz=rate):
            yield "rate_hz", f"{rate:g}"
        case SetDelayAccountingCommand(on=on):
            yield "on", str(on).lower()
        case SteerCommand(request=request, restarts=restarts):
            if restarts is not None:
                yield "restarts", restarts
            for name, value in request.model_dump(mode="json", exclude_none=True).items():
                yield name, value if isinstance(value, str) else json.dumps(value)
        case _:
            pass
