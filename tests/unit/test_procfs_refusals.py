"""Each reason not to attach has its own answer."""

from dataclasses import replace
from pathlib import Path

import pytest
from fake_proc import PF_KTHREAD, FakeProc, stat_line, status_text
from tidscope_collector.processes.identity import (
    Absence,
    Identity,
    attach_refusal,
    group_and_uid,
    identify,
)

ALIVE = Identity(
    pid=50, group=50, start_ticks=700, name="web", uid=0, kernel_thread=False, ended=False
)


@pytest.mark.parametrize(
    ("found", "expected_start", "kind", "status", "named"),
    [
        (Absence.MISSING, None, "unknown-process", 404, "50"),
        (Absence.HIDDEN, None, "not-permitted", 403, "50"),
        (replace(ALIVE, group=40), None, "unknown-process", 404, "thread (web)"),
        (ALIVE, 699, "process-id-reused", 409, "699"),
        (replace(ALIVE, kernel_thread=True), None, "kernel-thread", 422, "web"),
        (replace(ALIVE, ended=True), None, "target-exited", 410, "zombie"),
        (replace(ALIVE, ended=True), 699, "process-id-reused", 409, "700"),
    ],
)
def test_refusals(
    found: Identity | Absence, expected_start: int | None, kind: str, status: int, named: str
) -> None:
    problem = attach_refusal(50, found, expected_start)
    assert problem is not None
    assert problem.type == f"urn:tidscope:problem:{kind}"
    assert problem.status == status
    assert named in problem.detail
    assert problem.hint


def test_a_thread_is_refused_with_the_process_to_attach_to() -> None:
    problem = attach_refusal(50, replace(ALIVE, group=40), None)
    assert problem is not None
    assert "40" in problem.hint


@pytest.mark.parametrize("expected_start", [None, 700])
def test_a_living_process_is_not_refused(expected_start: int | None) -> None:
    assert attach_refusal(50, ALIVE, expected_start) is None


def test_identity_is_read(tmp_path: Path) -> None:
    proc = FakeProc(tmp_path)
    proc.process(50, stat_line(50, b"a) (b", start=700), status=status_text(50, uid=1000))
    assert identify(proc.procfs, 50) == replace(ALIVE, name="a) (b", uid=1000)


def test_a_kernel_thread_is_reported(tmp_path: Path) -> None:
    proc = FakeProc(tmp_path)
    proc.process(3, stat_line(3, b"kworker/0:1", flags=PF_KTHREAD))
    found = identify(proc.procfs, 3)
    assert isinstance(found, Identity)
    assert found.kernel_thread


@pytest.mark.parametrize(("known", "answer"), [(True, Absence.HIDDEN), (False, Absence.MISSING)])
def test_what_proc_does_not_show_is_asked_of_the_kernel(
    tmp_path: Path, known: bool, answer: Absence
) -> None:
    assert identify(FakeProc(tmp_path).procfs, 50, exists=lambda _: known) is answer


def test_an_id_beyond_all_ids_is_missing(tmp_path: Path) -> None:
    assert identify(FakeProc(tmp_path).procfs, 1 << 80) is Absence.MISSING


def test_a_status_file_without_its_lines_is_refused() -> None:
    with pytest.raises(ValueError, match="Uid"):
        group_and_uid(b"Name:\tx\nTgid:\t4\n")
