"""A scripted collector that answers every command with what was asked for."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from backend_builders import process, steering, target
from backend_server import Backend
from fake_collector import Command, FakeCollector
from tidscope_wire.generated.models import (
    AttachCommand,
    CollectorMessage,
    CutRingCommand,
    DetachCommand,
    DoctorCheck,
    DoctorCommand,
    DoctorReply,
    DoctorReport,
    FlushCommand,
    ListProcessesCommand,
    ListRingCommand,
    Process,
    ProcessesReply,
    ReadCutCommand,
    RefusedReply,
    RenewSteeringCommand,
    RestartSearchCommand,
    SetDelayAccountingCommand,
    SetRateCommand,
    SizeAudit,
    SizeAuditCommand,
    SizeAuditReply,
    SteerCommand,
    SteeringOptions,
    SteeringOptionsCommand,
    SteeringOptionsReply,
    TargetReply,
)
from tidscope_wire.problems import make_problem

NO_RING = make_problem("no-ring", "nothing is kept", "keep some")
CHECK = DoctorCheck(name="a", title="A", status="ok", finding="x", impact="", fix="")
REPORT = DoctorReport(host="box", kernel="6", checked_unix_ms=1, status="ok", checks=[CHECK])
OPTIONS = SteeringOptions(knobs=[], signals=[], steering=None)


def reply_to(command: Command, program: Process | None = None) -> CollectorMessage:
    """Replies of a collector that grants every request."""
    number = command.request_id
    match command:
        case ListProcessesCommand():
            return ProcessesReply(request_id=number, processes=[program or process(1), process(2)])
        case DoctorCommand() | SetDelayAccountingCommand():
            return DoctorReply(request_id=number, report=REPORT)
        case SizeAuditCommand():
            return SizeAuditReply(request_id=number, audit=SizeAudit(programs=[], omitted=0))
        case SteeringOptionsCommand():
            return SteeringOptionsReply(request_id=number, options=OPTIONS)
        case ListRingCommand() | CutRingCommand() | ReadCutCommand():
            return RefusedReply(request_id=number, problem=NO_RING)
        case SetRateCommand():
            answer = target(rate_hz=command.rate_hz)
        case DetachCommand():
            answer = target(state="detached")
        case SteerCommand() | RenewSteeringCommand() | RestartSearchCommand():
            answer = target().model_copy(update={"steering": steering()})
        case _:
            answer = target()
    created = isinstance(command, AttachCommand)
    return TargetReply(request_id=number, target=answer, created=created)


@asynccontextmanager
async def answering_collector(
    backend: Backend, program: Process | None = None
) -> AsyncIterator[tuple[FakeCollector, list[Command]]]:
    """A connected collector that samples one program, and the commands that it has got."""
    program = program or process()
    sampled = target().model_copy(update={"process": program})
    commands: list[Command] = []

    async def answer() -> None:
        while True:
            command = await collector.next_command()
            commands.append(command)
            if isinstance(command, FlushCommand):
                await collector.say(collector.flushed(command))
            else:
                await collector.say(reply_to(command, program))

    async with backend.collector(targets=[sampled]) as collector:
        await collector.greeted()
        answering = asyncio.create_task(answer())
        try:
            yield collector, commands
        finally:
            answering.cancel()
            await asyncio.gather(answering, return_exceptions=True)
