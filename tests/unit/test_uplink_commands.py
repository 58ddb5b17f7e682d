"""Commands that come by the uplink, and bounds of their replies."""

import asyncio
import threading
from pathlib import Path
from unittest.mock import Mock

from backend_builders import ACTOR, process
from fake_proc import FakeProc
from hypothesis import given
from hypothesis import strategies as st
from tidscope_collector.procfs.delay_accounting import SWITCH, DelayAccounting
from tidscope_collector.steering.commands import SteeringCommands
from tidscope_collector.targets.targets import TargetRegistry
from tidscope_collector.uplink.commands import SHORT_COMMAND, CommandHandler, parse, reply_text
from tidscope_wire.generated.models import (
    CollectorWelcome,
    DoctorCheck,
    DoctorReply,
    DoctorReport,
    KnobOption,
    ListProcessesCommand,
    Process,
    ProcessesReply,
    RefusedReply,
    ReleaseCommand,
    SetDelayAccountingCommand,
    SteeringOptions,
    SteeringOptionsReply,
)
from tidscope_wire.problems import refusal

MANY = 64


async def test_slow_listings_do_not_keep_a_release() -> None:
    go_on = threading.Event()

    def list_processes() -> list[Process]:
        go_on.wait()
        return []

    targets = Mock(spec=TargetRegistry)
    targets.processes.side_effect = list_processes
    steering = Mock(spec=SteeringCommands)
    steering.release.side_effect = refusal("not-steered", "no policy", "Choose one.")
    handler = CommandHandler(targets, Mock(), steering=steering)
    try:
        listings = [
            asyncio.create_task(handler.answer(ListProcessesCommand(request_id=number)))
            for number in range(MANY)
        ]
        await asyncio.sleep(0)
        released = await handler.answer(
            ReleaseCommand(request_id=MANY, target="t-1-00000000", actor=ACTOR)
        )
        assert isinstance(released, RefusedReply)
        assert not any(listing.done() for listing in listings)
    finally:
        go_on.set()
    assert all(isinstance(reply, ProcessesReply) for reply in await asyncio.gather(*listings))


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
        assert isinstance(parse(good.replace("true", value)), RefusedReply)
    assert parse(good.replace('"request_id":7,', "")) is None


def test_a_newer_backends_command_is_refused_unless_its_news_is_null() -> None:
    """A member that is not null could change what is asked for; facts have no such effect."""
    good = ON.model_dump_json()
    assert parse(good.replace('"on"', '"path":null,"on"')) == ON
    for newer in (
        good.replace('"on"', '"path":"x","on"'),
        good.replace("set_delay_accounting_command", "dance_command"),
    ):
        refused = parse(newer)
        assert isinstance(refused, RefusedReply)
        assert (refused.request_id, refused.problem.type) == (7, "urn:tidscope:problem:bad-request")
        assert "does not know this" in refused.problem.detail
        assert "same version" in refused.problem.hint
    welcome = CollectorWelcome(protocol=1, resume={}, frames="0" * 32)
    newer = welcome.model_dump_json().replace('"protocol"', '"version":"0.9","protocol"')
    assert parse(newer) == welcome


def processes(count: int, command: str) -> list[Process]:
    return [
        process(pid).model_copy(update={"command": command, "threads": pid % 7})
        for pid in range(1, count + 1)
    ]


def cut(listed: list[Process], most: int) -> ProcessesReply:
    text = reply_text(ProcessesReply(request_id=4, processes=listed), most)
    assert len(text.encode()) <= most
    return ProcessesReply.model_validate_json(text)


def test_what_fits_is_sent_as_it_is() -> None:
    listed = processes(10, "a program")
    reply = cut(listed, 100_000)
    assert (reply.processes, reply.note) == (listed, "")


def test_long_command_lines_are_cut_first() -> None:
    reply = cut(processes(50, "ä" * 4000), 200_000)
    assert len(reply.processes) == 50
    assert all(one.command == "ä" * SHORT_COMMAND + "…" for one in reply.processes)
    assert reply.note.startswith("Command lines are cut to 200 characters")


def test_then_processes_are_left_out_and_the_rest_is_named() -> None:
    reply = cut(processes(2_000, "x" * 4000), 200_000)
    pids = [one.pid for one in reply.processes]
    assert 0 < len(pids) < 2_000
    assert pids == sorted(pids)
    # Processes with the most threads stay.
    assert {one.threads for one in reply.processes} <= {5, 6}
    assert reply.note.startswith(f"{len(pids)} of 2,000 processes are listed")


@given(
    count=st.integers(0, 60),
    command=st.text(max_size=300),
    most=st.integers(2_000, 60_000),
)
def test_no_list_is_sent_beyond_the_bound(count: int, command: str, most: int) -> None:
    text = reply_text(ProcessesReply(request_id=4, processes=processes(count, command)), most)
    assert len(text.encode()) <= most
    reply = ProcessesReply.model_validate_json(text)
    assert (len(reply.processes) == count) or str(count) in reply.note


def test_a_report_keeps_its_checks_with_shorter_texts() -> None:
    check = DoctorCheck(
        name="n", title="t", status="ok", finding="f" * 50_000, impact="i", fix="", enabled=None
    )
    report = DoctorReport(host="h", kernel="k", checked_unix_ms=1, status="ok", checks=[check] * 4)
    text = reply_text(DoctorReply(request_id=4, report=report), 20_000)
    assert len(text) <= 20_000
    cut = DoctorReply.model_validate_json(text)
    assert [one.name for one in cut.report.checks] == ["n"] * 4
    assert cut.report.checks[0].finding.endswith("… (48,000 more characters)")


def test_what_cannot_be_cut_is_refused_with_its_size() -> None:
    knob = KnobOption(kind="go-affinity", refusal="x" * 1_000, lower=None, upper=None, size=None)
    options = SteeringOptions(knobs=[knob], signals=[], steering=None)
    text = reply_text(SteeringOptionsReply(request_id=4, options=options), 900)
    refused = RefusedReply.model_validate_json(text)
    assert refused.request_id == 4
    assert "and a message holds 900" in refused.problem.detail
