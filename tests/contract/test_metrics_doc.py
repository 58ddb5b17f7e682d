"""Metrics over HTTP, and the page of docs that lists them."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Iterable
from pathlib import Path

import httpx
import pytest
from backend_builders import (
    HOST_ID,
    TARGET_ID,
    division,
    frame_bytes,
    host,
    key_frame,
    steering,
    target,
)
from backend_server import TOKEN, Backend, running_backend
from builders import busy_pool, frame_header
from fake_collector import FakeCollector
from group_story import processes
from hostile_inputs import NAMES
from prometheus import promtool
from prometheus_client.metrics_core import Metric
from prometheus_client.openmetrics import parser as openmetrics
from prometheus_client.parser import text_string_to_metric_families as parse_text
from tidscope_backend.metrics.families import ENDED_SECONDS, Facts, StreamFacts, families
from tidscope_backend.metrics.meters import MAX_NAMED_PROCESSES, Meters
from tidscope_backend.metrics.role_families import ROLE_FIELDS
from tidscope_backend.nats_link.relay_counts import RelayCounts
from tidscope_backend.ring.status import RingStatus
from tidscope_wire.frame import join, split
from tidscope_wire.generated.catalogue import CATALOGUE
from tidscope_wire.generated.limits import MAX_ROLES
from tidscope_wire.generated.models import FramesLost, ProcessGauges, RoleTotals, TargetChanged
from tidscope_wire.table_streams import encode_tables

# docs/metrics.md lists the metrics that there are. Run this file as a script to write its tables
# again: PYTHONPATH=shared:tests .venv/bin/python tests/contract/test_metrics_doc.py


PAGE = Path(__file__).parents[2] / "docs" / "metrics.md"
ITSELF, TARGETS, ROLES = "tidscope itself", "Processes and their sampling", "Threads by role"
POOLS = "Pools of workers"
SUFFIX = {"counter": "_total", "info": "_info"}

Table = list[list[str]]


def full() -> list[Metric]:
    """Families of a target that has everything."""
    meters = Meters(lambda: 0.0, lambda _: 1)
    header = frame_header()
    every = {field.name: 1 for field in CATALOGUE.fields if field.scope == "thread"}
    role = RoleTotals(role="main", live=1, exited=0, totals=every)
    update = {
        "roles": [role],
        "process": ProcessGauges(
            gomaxprocs=1,
            rss_bytes=1,
            cpu_limit=1,
            cgroup_periods=1,
            cgroup_throttled=1,
            cgroup_throttled_us=1,
        ),
        "health": header.health.model_copy(update={"cpu_percent": 1.0, "overhead_percent": 1.0}),
        "machine": header.machine.model_copy(update={"package_uj": 1}),
    }
    described, tables = encode_tables({**busy_pool(), "processes": processes(1)})
    meters.observe(
        HOST_ID, header.model_copy(update=update | {"tables": described, "rows": 0}), tables
    )
    every_field = [field.name for field in CATALOGUE.fields]
    known = target().model_copy(
        update={"steering": steering(division=division()), "fields": every_field}
    )
    hosts = ((host(), meters.hosts[HOST_ID]),)
    targets = ((known, meters.targets[known.id]),)
    facts = Facts(
        StreamFacts(),
        hosts,
        targets,
        {"attached": 1},
        debug_files={"fetched": 1},
        role_rows={"taken": 1},
        ring=RingStatus(pid=1),
        relays={"db-17": RelayCounts()},
    )
    return list(families(facts))


def tables() -> dict[str, Table]:
    """The page's tables, by heading; of fields it says no more than their names."""
    head = ["metric", "type", "labels", "meaning"]
    made: dict[str, Table] = {
        ITSELF: [head],
        TARGETS: [head],
        POOLS: [head],
        ROLES: [["metric", "unit", "field"]],
    }
    fields = {metric.name: metric for metric in ROLE_FIELDS}
    for metric in full():
        assert metric.samples, f"{metric.name} has no sample"
        name = f"`{metric.name}{SUFFIX.get(metric.type, '')}`"
        labels = {label for sample in metric.samples for label in sample.labels}
        if metric.name in fields:
            assert labels == {"target", "role"}
            made[ROLES].append([name, metric.unit, f"`{fields[metric.name].field}`"])
            continue
        listed = ", ".join(f"`{label}`" for label in sorted(labels))
        part = POOLS if "pool" in labels else TARGETS if "target" in labels else ITSELF
        made[part].append([name, metric.type, listed, metric.documentation])
    return made


def written() -> dict[str, Table]:
    """The tables as the page has them."""
    found: dict[str, Table] = {}
    for part in PAGE.read_text(encoding="utf-8").split("\n## "):
        lines = [line for line in part.splitlines() if line.startswith("|")]
        rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]
        if rows:
            found[part.split("\n", 1)[0]] = [rows[0], *rows[2:]]
    return found


@pytest.mark.parametrize("heading", [ITSELF, TARGETS, POOLS, ROLES])
def test_the_tables_are_the_metrics(heading: str) -> None:
    assert written()[heading] == tables()[heading]


def test_bounds_are_those_in_force() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert f"at most {MAX_ROLES - 1} roles by name" in text
    assert f"at most {MAX_ROLES} times" in text
    assert f"at most {MAX_NAMED_PROCESSES} names" in text
    assert ENDED_SECONDS == 300
    assert "stays for five minutes" in text


def test_metrics_in_the_text_exist() -> None:
    known = {sample.name for metric in full() for sample in metric.samples}
    text = PAGE.read_text(encoding="utf-8").partition("\n## tidscope itself")[0]
    named = set(re.findall(r"tidscope_\w+", text))
    assert named
    assert named <= known


def _write() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for heading, table in tables().items():
        widths = [max(len(row[c]) for row in table) for c in range(len(table[0]))]
        lines = [
            "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
            for row in [table[0], ["-" * width for width in widths], *table[1:]]
        ]
        block = "".join(f"{line} |\n" for line in lines)
        before, after = text.split(f"\n## {heading}\n")
        start, *_, end = (m for m in re.finditer(r"(?m)^\|.*\n", after.split("\n## ")[0]))
        after = after[: start.start()] + block + after[end.end() :]
        text = f"{before}\n## {heading}\n{after}"
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    _write()


WAIT = 200
parse_openmetrics: Callable[[str], Iterable[Metric]] = openmetrics.text_string_to_metric_families
CPU = "tidscope_thread_cpu_run_seconds_total"


@pytest.fixture
async def backend() -> AsyncIterator[Backend]:
    async with asyncio.timeout(WAIT), running_backend() as running:
        yield running


async def scrape(backend: Backend, accept: str = "") -> httpx.Response:
    async with backend.client(authorization=f"Bearer {TOKEN}", accept=accept) as client:
        return (await client.get("/metrics")).raise_for_status()


async def values(backend: Backend) -> dict[str, float]:
    """Values by name, and by role where there is one."""
    return {
        sample.labels.get("role", sample.name) if sample.name == CPU else sample.name: sample.value
        for family in parse_text((await scrape(backend)).text)
        for sample in family.samples
    }


async def arrived(backend: Backend, collector: FakeCollector, frames: int) -> dict[str, float]:
    """Values as soon as so many frames have come: the backend answers a ping only behind them."""
    while True:
        await (await collector.frames.ping())
        reported = await values(backend)
        if reported["tidscope_frames_total"] >= frames:
            return reported


def with_roles(frame: bytes, **cpu_s: int) -> bytes:
    """A frame that tells totals by role."""
    header, body = split(frame)
    roles = [
        RoleTotals(role=role, live=1, exited=0, totals={"cpu_run_ns": value * 10**9})
        for role, value in cpu_s.items()
    ]
    return join(header.model_copy(update={"roles": roles}), bytes(body))


async def test_the_token_is_the_credential(backend: Backend) -> None:
    async with backend.client() as client:
        answer = await client.get("/metrics")
        assert answer.status_code == 401
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.headers["www-authenticate"] == "Bearer"
        wrong = await client.get("/metrics", headers={"authorization": "Bearer another-token"})
        assert wrong.status_code == 401
        other = {"host": "evil.example", "authorization": f"Bearer {TOKEN}"}
        assert (await client.get("/metrics", headers=other)).status_code == 403
    async with backend.program() as client:
        assert (await client.get("/metrics")).status_code == 200
        assert (await client.get("/metrics/")).status_code == 404


async def test_kinds_of_answers(backend: Backend) -> None:
    plain = await scrape(backend)
    assert plain.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert plain.headers["cache-control"] == "no-store"
    opened = await scrape(backend, "application/openmetrics-text;version=1.0.0,text/plain;q=0.5")
    assert opened.headers["content-type"].startswith("application/openmetrics-text; version=1.0.0")
    names = {family.name for family in parse_text(plain.text)}
    assert {"tidscope_frames", "tidscope_build_info", "process_cpu_seconds"} <= names
    assert "# TYPE tidscope_build info\n" in opened.text
    assert opened.text.endswith("# EOF\n")


async def test_promtool_is_content(backend: Backend) -> None:
    async with backend.collector(targets=[target()]) as collector:
        await collector.send(with_roles(key_frame(1), main=1))
        await arrived(backend, collector, 1)
        assert promtool("check", "metrics", text=(await scrape(backend)).text) == ""


async def test_hostile_names_are_labels_and_nothing_else(backend: Backend) -> None:
    """In both formats, by the client's parsers and by Prometheus' own."""
    named = target()
    named = named.model_copy(
        update={"process": named.process.model_copy(update={"name": "".join(NAMES)})}
    )
    async with backend.collector(targets=[named]) as collector:
        cpu_s = {name: n for n, name in enumerate(NAMES)}
        await collector.send(with_roles(key_frame(1), **cpu_s))
        while (text := (await scrape(backend)).text).count(f"{CPU}{{") < len(NAMES):
            pass
        opened = await scrape(backend, "application/openmetrics-text;version=1.0.0")
    assert promtool("check", "metrics", text=text) == ""
    for found_families in (parse_text(text), parse_openmetrics(opened.text)):
        samples = [sample for family in found_families for sample in family.samples]
        found = {one.labels["role"]: one.value for one in samples if one.name == CPU}
        assert found == cpu_s
        (about,) = (one for one in samples if one.name == "tidscope_target_info")
        assert about.labels["process"] == "".join(NAMES)
        assert "evil" not in {name for one in samples for name in one.labels}


async def test_totals_stand_when_frames_are_lost_or_do_not_tell_them(backend: Backend) -> None:
    async with backend.collector(targets=[target()]) as collector:
        await collector.send(with_roles(key_frame(1), main=1), frame_bytes(2))
        reported = await arrived(backend, collector, 2)
        assert reported["main"] == 1
        assert reported["tidscope_frames_lost_total"] == 0
        lost = FramesLost(target=TARGET_ID, from_seq=3, to_seq=5, reason="the buffer was full")
        await collector.say(lost)
        # Nobody reported of 8 and 9.
        frames = [frame_bytes(6), frame_bytes(7), with_roles(frame_bytes(10), main=4, io=2)]
        await collector.send(*frames)
        reported = await arrived(backend, collector, 5)
        assert (reported["main"], reported["io"]) == (4, 2)
        assert reported["tidscope_frames_lost_total"] == 5
        assert reported["tidscope_frame_gaps_total"] == 2
        assert reported["tidscope_target_frames_total"] == 5


async def test_a_replay_and_the_end_of_the_connection_change_nothing(backend: Backend) -> None:
    async with backend.collector(targets=[target()]) as collector:
        await collector.send(with_roles(key_frame(1), main=1), with_roles(frame_bytes(2), main=3))
        await arrived(backend, collector, 2)
    async with backend.collector(targets=[target()]) as collector:
        # Both have come before.
        await collector.send(with_roles(key_frame(1), main=1), with_roles(frame_bytes(2), main=3))
        await collector.send(frame_bytes(3))
        reported = await arrived(backend, collector, 3)
        assert reported["main"] == 3
        assert reported["tidscope_target_frames_total"] == 3
        assert reported["tidscope_collector_up"] == 1
    while reported["tidscope_collector_up"] != 0:
        reported = await values(backend)
    assert reported["main"] == 3
    assert reported["tidscope_collectors"] == 0


async def test_the_last_numbers_of_an_ended_target_can_be_scraped(backend: Backend) -> None:
    async with backend.collector(targets=[target()]) as collector:
        await collector.send(with_roles(key_frame(1), main=1), with_roles(frame_bytes(2), main=9))
        await collector.say(TargetChanged(target=target(state="exited")))
        reported = await arrived(backend, collector, 2)
        while reported["tidscope_target_up"] != 0:
            reported = await values(backend)
        assert reported["main"] == 9


async def test_what_waits_for_a_page_is_reported(backend: Backend) -> None:
    async with backend.collector(targets=[target()]) as collector, backend.page():
        await collector.send(key_frame(1))
        reported = await arrived(backend, collector, 1)
        assert reported["tidscope_pages"] == 1
        assert reported["tidscope_queued_frames"] == 0
        assert reported["tidscope_history_bytes"] == reported["tidscope_frame_bytes_total"] > 0
