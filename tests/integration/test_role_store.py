"""Totals by role in an S3 service that fails: nothing is lost, and nothing is there twice."""

import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from object_store import KEY, SECRET, FailingNetwork, Gateway
from processes import wait_until
from tidscope_backend.fleet import part_shipper, part_store
from tidscope_backend.fleet.committer import commit
from tidscope_backend.fleet.part_shipper import PartShipper
from tidscope_backend.fleet.part_store import STAGED, PartStore, StoreError
from tidscope_backend.fleet.queries import connect
from tidscope_backend.fleet.role_keeper import COMMITTER, write_part
from tidscope_backend.fleet.role_rows import table_of
from tidscope_backend.fleet.role_table import staged_parts
from tidscope_backend.processes import run_module

MONTH = 30 * 86400.0


@pytest.fixture
def network(gateway: Gateway) -> Iterator[FailingNetwork]:
    made = FailingNetwork(gateway.port)
    yield made
    made.close()


@pytest.fixture
def gateway(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Gateway]:
    made = Gateway(tmp_path)
    made.start()
    for name, value in {
        "AWS_ACCESS_KEY_ID": KEY,
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{made.port}",
    }.items():
        monkeypatch.setenv(name, value)
    # A busy machine makes answers late, not absent.
    monkeypatch.setattr(part_store, "REQUEST_S", 60)
    yield made
    made.kill()


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """Folder of a backend."""
    made = tmp_path / "roles"
    made.mkdir()
    return made


@contextmanager
def impatient() -> Iterator[None]:
    """Give up soon, for a store that does not answer."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(part_store, "REQUEST_S", 1)
        patched.setattr(part_store, "RETRY_S", 1)
        yield


def write(folder: Path, *numbers: int) -> None:
    """Write a part with a row of each host."""
    now = datetime.now(UTC)
    rows: list[dict[str, Any]] = [
        {
            **{"time": now, "host": f"h-{number:012x}", "host_name": f"host-{number}"},
            **{"target": "t-1-a", "program": "work", "pid": 1, "role": "worker-#"},
            **{"live": 1, "exited": 0, "cpu_run_ns": number},
        }
        for number in numbers
    ]
    table, _ = table_of(rows)
    write_part(folder / STAGED, table)


def shipper(folder: Path, gateway: Gateway, lost: list[int] | None = None) -> PartShipper:
    return PartShipper(folder / STAGED, gateway.url, ([] if lost is None else lost).append)


def hosts(folder: Path) -> list[int]:
    with connect(folder) as database:
        found = database.sql("select host_name from roles").fetchall()
    return sorted(int(name.removeprefix("host-")) for (name,) in found)


def add(folder: Path, gateway: Gateway) -> int:
    return commit(folder, MONTH, datetime.now(UTC), gateway.url)


def test_rows_are_seen_here_in_the_store_and_in_the_table(here: Path, gateway: Gateway) -> None:
    write(here, 1, 2)
    assert hosts(here) == [1, 2]
    sending = shipper(here, gateway)
    sending.ship()
    assert (staged_parts(here), sending.waiting) == ([], 0)
    assert add(here, gateway) == 2
    write(here, 3)
    sending.ship()
    write(here, 4)
    assert hosts(here) == [1, 2, 3, 4]
    assert not list(here.glob("tidscope/**/*.parquet"))
    assert list(gateway.objects.glob("tidscope/roles/data/**/*.parquet"))


def test_parts_wait_here_while_the_store_fails_and_then_arrive_once(
    here: Path,
    gateway: Gateway,
    network: FailingNetwork,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{network.port}")
    sending = shipper(here, gateway)
    for number, status in enumerate((403, 500, 503)):
        write(here, number)
        network.status = status
        with impatient():
            sending.ship()
        assert sending.waiting == number + 1
    network.status = None
    write(here, 3)
    with gateway.stopped(), impatient():
        sending.ship()
        assert sending.waiting == 4
    with monkeypatch.context() as patched:
        patched.setenv("AWS_SECRET_ACCESS_KEY", "revoked")
        sending.ship()
        assert sending.waiting == 4
    gateway.kill()
    with impatient():
        sending.ship()
    assert sending.waiting == 4
    assert len([one for one in caplog.messages if "is not reached" in one]) == 1
    gateway.start()
    sending.ship()
    assert sending.waiting == 0
    assert "reach" in caplog.messages[-1]
    assert add(here, gateway) == 4
    assert hosts(here) == [0, 1, 2, 3]


def test_a_part_whose_answer_was_lost_is_there_once(
    here: Path, gateway: Gateway, network: FailingNetwork, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{network.port}")
    write(here, 1)
    network.deaf = True
    sending = shipper(here, gateway)
    sending.ship()
    assert sending.waiting == 1
    network.deaf = False
    assert PartStore(gateway.url).names() == [one.name for one in staged_parts(here)]
    assert hosts(here) == [1] if add(here, gateway) else False
    sending.ship()
    assert hosts(here) == [1]
    assert add(here, gateway) == 0
    assert hosts(here) == [1]


def test_the_oldest_parts_of_too_many_are_lost_and_counted(
    here: Path, gateway: Gateway, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    gateway.kill()
    lost: list[int] = []
    sending = shipper(here, gateway, lost)
    write(here, 1, 2, 3)
    write(here, 4)
    monkeypatch.setattr(part_shipper, "MAX_BYTES", staged_parts(here)[1].stat().st_size)
    with impatient():
        sending.ship()
    assert (lost, sending.waiting) == ([3], 1)
    assert "are lost: 3 rows" in caplog.messages[-1]


def _count(gateway: Gateway, pattern: str) -> int:
    try:
        return len(list(gateway.objects.glob(pattern)))
    except FileNotFoundError:
        return 0  # The service has removed the folder of the last object meanwhile.


MOMENTS: dict[str, Callable[[Gateway], int]] = {
    "lease": lambda gateway: _count(gateway, "committer.json"),
    "data": lambda gateway: _count(gateway, "tidscope/roles/data/**/*.parquet"),
    "metadata": lambda gateway: _count(gateway, "tidscope/roles/metadata/*.metadata.json"),
    "removed": lambda gateway: -_count(gateway, f"{STAGED}/*"),
}


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_committer_killed_at_any_moment_neither_loses_nor_repeats(
    here: Path, gateway: Gateway, moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(4):
        write(here, number)
    shipper(here, gateway).ship()
    before = MOMENTS[moment](gateway)
    process = committer(here, gateway)
    try:
        wait_until(lambda: MOMENTS[moment](gateway) > before or process.poll() is not None)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    # The dead process may have the lease, for minutes.
    with suppress(FileNotFoundError):
        PartStore(gateway.url)._objects.delete("committer.json")
    add(here, gateway)
    assert hosts(here) == [0, 1, 2, 3]


def committer(folder: Path, gateway: Gateway) -> subprocess.Popen[bytes]:
    command = run_module(COMMITTER, str(folder), f"{MONTH}", gateway.url)
    return subprocess.Popen(command, stderr=subprocess.DEVNULL)


def test_backends_that_share_a_catalog_commit_each_part_once(
    here: Path, gateway: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYICEBERG_CATALOG__TIDSCOPE__URI", f"sqlite:///{here}/shared.db")
    other = here / "other"
    write(here, 0)
    shipper(here, gateway).ship()
    assert add(here, gateway) == 1
    for number in (1, 2, 3):
        write(here, number)
        write(other, number + 3)
    for folder in (here, other):
        shipper(folder, gateway).ship()
    racing = [committer(folder, gateway) for folder in (here, other)]
    for process in racing:
        process.wait(timeout=120)
    add(other, gateway)
    assert hosts(here) == hosts(other) == list(range(7))


def test_a_lease_that_expired_is_taken_over(gateway: Gateway) -> None:
    one, other = PartStore(gateway.url), PartStore(gateway.url)
    with one.exclusive(60) as first, other.exclusive(60) as second:
        assert (first, second) == (True, False)
    with one.exclusive(-1) as first, other.exclusive(60) as second:
        assert (first, second) == (True, True)
    with other.exclusive(60) as again:
        assert again


def test_a_store_that_refuses_is_named(gateway: Gateway, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(os.environ, "AWS_SECRET_ACCESS_KEY", "wrong")
    with pytest.raises(StoreError, match=r"SignatureDoesNotMatch|403|permission"):
        PartStore(gateway.url).names()
