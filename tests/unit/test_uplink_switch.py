"""The command that switches delay accounting: carried out, or refused with a reason."""

from pathlib import Path
from unittest.mock import Mock

from backend_builders import ACTOR
from fake_proc import FakeProc
from tidscope_collector.procfs.delay_accounting import SWITCH, DelayAccounting
from tidscope_collector.targets.targets import TargetRegistry
from tidscope_collector.uplink.commands import CommandHandler, parse
from tidscope_wire.generated.models import (
    DoctorReply,
    DoctorReport,
    RefusedReply,
    SetDelayAccountingCommand,
)

REPORT = DoctorReport(host="box", kernel="6", checked_unix_ms=1, status="ok", checks=[])
ON = SetDelayAccountingCommand(request_id=7, on=True, actor=ACTOR)


def commands(delays: DelayAccounting | None) -> CommandHandler:
    return CommandHandler(Mock(spec=TargetRegistry), lambda: REPORT, delays)


async def test_it_is_set_and_the_report_is_the_answer(tmp_path: Path) -> None:
    proc = FakeProc(tmp_path)
    proc.write(SWITCH, b"0\n")
    reply = await commands(DelayAccounting(proc.procfs)).answer(ON)
    assert reply == DoctorReply(request_id=7, report=REPORT)
    assert (proc.root / SWITCH).read_bytes().startswith(b"1")


async def test_a_refusal_says_why_and_what_to_do(tmp_path: Path) -> None:
    for delays in (DelayAccounting(FakeProc(tmp_path).procfs), None):
        reply = await commands(delays).answer(ON)
        assert isinstance(reply, RefusedReply)
        assert reply.problem.type == "urn:tidscope:problem:not-permitted"
        assert reply.problem.status == 403
        assert reply.problem.detail and reply.problem.hint


def test_no_other_value_is_understood() -> None:
    good = ON.model_dump_json()
    assert parse(good) == ON
    for value in ("2", "null", '"/proc/sys/kernel/panic"'):
        assert parse(good.replace("true", value)) is None
    assert parse(good.replace('"on"', '"path":"x","on"')) is None
