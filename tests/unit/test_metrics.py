"""Names of metrics, what is kept of frames, and what is written of it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import pytest
from backend_builders import HOST_ID, TARGET_ID, division, host, steering, target
from builders import frame_header
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_open
from prometheus_client.parser import text_string_to_metric_families as parse_text
from tidscope_backend.host_registry import HostRegistry
from tidscope_backend.ingest.links import CollectorLinks
from tidscope_backend.metrics.export import write
from tidscope_backend.metrics.families import ENDED_SECONDS, Facts, StreamFacts, families, gather
from tidscope_backend.metrics.meters import Meters
from tidscope_backend.metrics.role_families import UNITS, metric_of
from tidscope_backend.metrics.target_families import target_families
from tidscope_backend.stream.fanout import Fanout
from tidscope_backend.stream.history import HistoryStore
from tidscope_wire.generated.catalogue import CATALOGUE
from tidscope_wire.generated.models import (
    CatalogueField,
    FrameHeader,
    ProcessGauges,
    RoleTotals,
    SteeredProgram,
)

Labels = frozenset[tuple[str, str]]
OF_TARGET = frozenset({("target", TARGET_ID)})
OPEN = "application/openmetrics-text; version=1.0.0"


def role(
    name: str | None = "worker-#", live: int = 1, exited: int = 0, **totals: int
) -> RoleTotals:
    return RoleTotals(role=name, live=live, exited=exited, totals=totals)


def header(
    seq: int = 1,
    roles: Sequence[RoleTotals] | None = None,
    *,
    target_id: str = TARGET_ID,
    **health: float | None,
) -> FrameHeader:
    made = frame_header(target=target_id, seq=seq, time_ns=seq * 1_000_000)
    values = {"roles": None if roles is None else [r.model_dump() for r in roles]}
    return FrameHeader.model_validate(
        {**made.model_dump(), **values, "health": {**made.health.model_dump(), **health}}
    )


@dataclass
class Harness:
    """Meters that are fed by hand."""

    now: float = 0.0
    pid: int | None = 1

    def __post_init__(self) -> None:
        self.meters = Meters(lambda: self.now, lambda _: self.pid)

    def see(self, *headers: FrameHeader) -> None:
        for one in headers:
            self.meters.observe(HOST_ID, one, b"")

    def facts(self) -> Facts:
        meter = self.meters.targets.get(TARGET_ID)
        hosts = ((host(), self.meters.hosts.get(HOST_ID)),)
        return Facts(StreamFacts(), hosts, ((target(), meter),), {"attached": 1})

    def samples(self, name: str) -> Mapping[Labels, float]:
        """Labels to value of the samples of one name."""
        return {
            frozenset(sample.labels.items()): sample.value
            for family in families(self.facts())
            for sample in family.samples
            if sample.name == name
        }


def of_role(name: str) -> Labels:
    return OF_TARGET | {("role", name)}


def field(name: str) -> CatalogueField:
    (found,) = [f for f in CATALOGUE.fields if f.name == name]
    return found


@pytest.mark.parametrize(
    ("name", "metric", "raw", "value"),
    [
        ("cpu_run_ns", "tidscope_thread_cpu_run_seconds", 1_500_000_001, 1.500000001),
        ("user_cpu_us", "tidscope_thread_user_cpu_seconds", 4000, 0.004),
        ("disk_read_bytes", "tidscope_thread_disk_read_bytes", 4096, 4096),
        ("voluntary_switches", "tidscope_thread_voluntary_switches", 7, 7),
        ("blkio_count", "tidscope_thread_blkio_delays", 3, 3),
        ("blkio_delay_ns", "tidscope_thread_blkio_delay_seconds", 10**9, 1),
        ("rss_bytes", "tidscope_process_rss_bytes", 1, 1),
    ],
)
def test_names_and_units(name: str, metric: str, raw: int, value: float) -> None:
    named = metric_of(field(name))
    assert (named.name, named.value(raw)) == (metric, value)


def test_each_field_has_a_name_of_its_own_and_a_base_unit() -> None:
    named = [metric_of(f) for f in CATALOGUE.fields]
    assert len({metric.name for metric in named}) == len(CATALOGUE.fields)
    assert {f.unit for f in CATALOGUE.fields} <= UNITS.keys()
    for f, metric in zip(CATALOGUE.fields, named, strict=True):
        assert f.meaning in metric.text
        assert metric.name.endswith(metric.base)
        assert not metric.name.endswith(("_ns", "_us", "_count", "_total", "_sum"))


def test_roles_are_reported_and_what_is_absent_makes_no_series() -> None:
    harness = Harness()
    harness.see(
        header(1, [role(cpu_run_ns=2_500_000_000), role("main", 1, 4, disk_read_bytes=0)]),
        # Not reported again: the last ones stand.
        header(2),
    )
    assert harness.samples("tidscope_thread_cpu_run_seconds_total") == {of_role("worker-#"): 2.5}
    assert harness.samples("tidscope_thread_disk_read_bytes_total") == {of_role("main"): 0}
    assert harness.samples("tidscope_thread_net_read_bytes_total") == {}
    assert harness.samples("tidscope_role_exited_threads_total") == {
        of_role("worker-#"): 0,
        of_role("main"): 4,
    }
    assert harness.samples("tidscope_target_roles_folded") == {OF_TARGET: 0}
    assert harness.samples("tidscope_process_rss_bytes") == {}
    assert harness.samples("tidscope_collector_cpu_ratio") == {}


def test_without_roles_there_is_no_series_of_roles() -> None:
    harness = Harness()
    harness.see(header())
    assert harness.samples("tidscope_role_threads") == {}
    assert harness.samples("tidscope_target_roles_folded") == {}
    assert harness.samples("tidscope_target_frames_total") == {OF_TARGET: 1}


def test_the_rest_is_other_even_if_a_role_is_called_so() -> None:
    harness = Harness()
    harness.see(
        header(1, [role("other", 2, 1, cpu_run_ns=10**9), role(None, 3, 5, cpu_run_ns=10**9)])
    )
    assert harness.samples("tidscope_thread_cpu_run_seconds_total") == {of_role("other"): 2}
    assert harness.samples("tidscope_role_threads") == {of_role("other"): 5}
    assert harness.samples("tidscope_role_exited_threads_total") == {of_role("other"): 6}
    assert harness.samples("tidscope_target_roles_folded") == {OF_TARGET: 1}


def test_time_of_samples_adds_up_over_frames() -> None:
    harness = Harness()
    harness.see(header(1, sample_us=1500, late_us=10), header(2, sample_us=500, missed_deadlines=3))
    name = "tidscope_target_sample_duration_seconds"
    assert harness.samples(f"{name}_sum") == {OF_TARGET: 0.002}
    assert harness.samples(f"{name}_count") == {OF_TARGET: 2}
    assert harness.samples("tidscope_target_sample_lateness_seconds_sum") == {OF_TARGET: 0.00001}
    assert harness.samples("tidscope_target_missed_deadlines_total") == {OF_TARGET: 3}


def test_numbers_of_a_collector_do_not_fall_while_it_lives() -> None:
    harness = Harness()
    of_host = frozenset({("host", HOST_ID)})
    name = "tidscope_collector_exit_records_lost_total"
    harness.see(
        header(9, exit_records_lost=7, exit_records_received=50, cpu_percent=25.0, replay_bytes=9)
    )
    # A replayed frame of another target, which is older.
    harness.see(
        header(2, target_id="t-101-deadbeef", exit_records_lost=1, cpu_percent=80.0, replay_bytes=1)
    )
    assert harness.samples(name) == {of_host: 7}
    assert harness.samples("tidscope_collector_exit_records_received_total") == {of_host: 50}
    assert harness.samples("tidscope_collector_cpu_ratio") == {of_host: 0.25}
    assert harness.samples("tidscope_collector_replay_bytes") == {of_host: 9}
    # Another collector process counts from zero, as a counter may.
    harness.pid = 2
    harness.see(header(10, exit_records_lost=0))
    assert harness.samples(name) == {of_host: 0}


def test_a_collector_that_is_not_known_is_not_reported() -> None:
    harness = Harness(pid=None)
    harness.see(header())
    assert harness.meters.hosts == {}
    assert harness.samples("tidscope_target_frames_total") == {OF_TARGET: 1}


def test_an_ended_target_is_reported_for_a_while() -> None:
    harness = Harness()
    registry = HostRegistry(max_ended=5)
    registry.subscribe(lambda: None, harness.meters.forget)
    registry.connect_host(host(), [target()])
    fanout = Fanout(HistoryStore(1, 1, 1, lambda: 0.0))
    links = CollectorLinks(lambda _: True)

    def targets() -> list[str]:
        return [known.id for known, _ in gather(registry, links, fanout, harness.meters).targets]

    # Attached and without a frame yet.
    assert targets() == [TARGET_ID]
    harness.see(header(1, [role()]))
    harness.now = 10 * ENDED_SECONDS
    assert targets() == [TARGET_ID]
    harness.see(header(2))
    registry.update_target(target(state="exited"))
    harness.now += ENDED_SECONDS
    assert targets() == [TARGET_ID]
    harness.now += 1
    assert targets() == []
    assert gather(registry, links, fanout, harness.meters).states == {
        "attached": 0,
        "exited": 1,
        "detached": 0,
    }
    registry.remove_target(TARGET_ID)
    assert harness.meters.targets == {}


def test_gauges_of_the_process() -> None:
    harness = Harness()
    gauges = ProcessGauges(gomaxprocs=8, rss_bytes=4096)
    harness.see(header().model_copy(update={"process": gauges}))
    assert harness.samples("tidscope_process_gomaxprocs") == {OF_TARGET: 8}
    assert harness.samples("tidscope_process_rss_bytes") == {OF_TARGET: 4096}


@pytest.mark.parametrize("parse", [parse_text, parse_open])
def test_what_is_written_can_be_read_whatever_threads_are_called(
    parse: Callable[[str], object],
) -> None:
    harness = Harness()
    names = ['q"uote', "back\\slash", "new\nline", "ü🧵\ufffd", "", " ", "{}=,", "# HELP x"]
    harness.see(header(1, [role(name, cpu_run_ns=10**9) for name in names]))
    text, kind = write(harness.facts(), OPEN if parse is parse_open else "")
    found = {
        sample.labels["role"]
        for family in (parse_open if parse is parse_open else parse_text)(text.decode())
        for sample in family.samples
        if sample.name == "tidscope_thread_cpu_run_seconds_total"
    }
    assert found == set(names)
    assert kind.startswith("application/openmetrics" if parse is parse_open else "text/plain")


@pytest.mark.parametrize(
    ("accept", "kind"),
    [
        ("", "text/plain"),
        ("*/*", "text/plain"),
        ("text/plain;version=0.0.4", "text/plain"),
        ("text/plain;version=x", "text/plain"),
        ("application/openmetrics-text; version=x, text/plain", "text/plain"),
        (f"{OPEN},text/plain;version=0.0.4;q=0.5,*/*;q=0.1", "application/openmetrics-text"),
        ("application/openmetrics-text", "application/openmetrics-text"),
        ("\u00e9;;;=,", "text/plain"),
    ],
)
def test_the_accept_header_decides(accept: str, kind: str) -> None:
    text, reported = write(Harness().facts(), accept)
    assert reported.startswith(kind)
    assert text.endswith(b"# EOF\n") == (kind != "text/plain")
    assert b"process_resident_memory_bytes" in text


def of_state(name: str, state: str) -> Labels:
    return of_role(name) | {("state", state)}


def test_states_are_one_family_with_a_label() -> None:
    harness = Harness()
    harness.see(
        header(
            1,
            [
                role(state_futex_ns=1_500_000_000, state_on_cpu_ns=500_000_000, state_poll_ns=0),
                role("main", cpu_run_ns=1),
            ],
        )
    )
    assert harness.samples("tidscope_thread_state_seconds_total") == {
        of_state("worker-#", "futex"): 1.5,
        of_state("worker-#", "on_cpu"): 0.5,
    }
    names = {family.name for family in families(harness.facts())}
    assert not [name for name in names if name.startswith("tidscope_thread_state_futex")]


def test_time_in_a_state_does_not_fall() -> None:
    harness = Harness()
    harness.see(
        header(1, [role(state_futex_ns=2_000_000_000, cpu_run_ns=2_000_000_000)]),
        # The kernel's count of a round took 3 µs back.
        header(2, [role(state_futex_ns=1_999_997_000, cpu_run_ns=1_000_000_000)]),
        header(3),
    )
    found = harness.samples("tidscope_thread_state_seconds_total")
    assert found == {of_state("worker-#", "futex"): 2.0}
    assert harness.samples("tidscope_thread_cpu_run_seconds_total") == {of_role("worker-#"): 1.0}
    harness.see(header(4, [role(state_futex_ns=2_000_001_000), role("new", state_poll_ns=10**9)]))
    assert harness.samples("tidscope_thread_state_seconds_total") == {
        of_state("worker-#", "futex"): 2.000001,
        of_state("new", "poll"): 1.0,
    }


def test_throttling_is_reported_where_there_is_a_limit() -> None:
    harness = Harness()
    name = "tidscope_target_cpu_limit_throttled_seconds_total"
    harness.see(header())
    assert harness.samples(name) == {}
    process = ProcessGauges(
        gomaxprocs=None,
        rss_bytes=None,
        cpu_limit=1.5,
        cgroup_periods=50,
        cgroup_throttled=20,
        cgroup_throttled_us=1_250_000,
    )
    harness.see(header(2).model_copy(update={"process": process}))
    assert harness.samples(name) == {OF_TARGET: 1.25}
    assert harness.samples("tidscope_target_cpu_limit_cores") == {OF_TARGET: 1.5}
    assert harness.samples("tidscope_target_cpu_limit_periods_total") == {OF_TARGET: 50}
    assert harness.samples("tidscope_target_cpu_limit_throttled_periods_total") == {OF_TARGET: 20}


def test_divisions_of_groups_and_processes() -> None:
    program = SteeredProgram(
        pid=7, start_ticks=1, name="shop", steering=steering(division=division(cores=5))
    )
    group = target().model_copy(update={"programs": [program]})
    found = {
        one.name: [(sample.labels, sample.value) for sample in one.samples]
        for one in target_families([(group, None)])
    }
    labels = {"target": TARGET_ID, "pid": "7", "process": "shop"}
    assert found["tidscope_division_cores"] == [(labels, 5)]
    assert found["tidscope_division_share"] == [(labels, 2)]
