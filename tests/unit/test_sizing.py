"""Numbers of threads: usable, chosen and advisable."""

from pathlib import Path

import pytest
from backend_builders import process
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.sizing.allowance import (
    count_cpus,
    read_allowance,
    request_of,
    weight_of,
)
from tidscope_collector.sizing.audit import parse_version, processors, with_agents
from tidscope_collector.sizing.judgement import (
    Chosen,
    GoSetting,
    PoolSetting,
    Verdict,
    change,
    fitting_size,
    follows_limits,
    judge,
    judge_pool,
    of_go,
)


def setting(
    gomaxprocs: int | None, version: str | None = "go1.24.1", chosen: Chosen = "runtime"
) -> GoSetting:
    return GoSetting(gomaxprocs, version, chosen)


@pytest.mark.parametrize(
    ("gomaxprocs", "cpus", "limit", "verdict", "size"),
    [
        (8, 8, None, "fits", None),
        (8, 2, None, "too-large", 2),
        (2, 8, None, "too-small", 8),
        (8, 8, 2.0, "too-large", 2),
        (16, 8, 3.0, "too-large", 3),
        (16, 8, 12.0, "too-large", 8),
        (8, 8, 2.5, "too-large", 3),
        (3, 8, 2.5, "fits", None),
        (2, 8, 2.5, "fits", None),
        (1, 8, 2.5, "too-small", 3),
        (2, 8, 0.5, "fits", None),
        (3, 8, 0.5, "too-large", 1),
        (1, 8, 0.5, "fits", None),
        (2, 2, 4.0, "fits", None),
        (1, 1, None, "fits", None),
        (2, 1, None, "too-large", 1),
        (None, 4, None, "unknown", None),
    ],
)
def test_verdicts(
    gomaxprocs: int | None, cpus: int, limit: float | None, verdict: Verdict, size: int | None
) -> None:
    found = judge(setting(gomaxprocs), cpus, limit)
    assert (found.verdict, found.size) == (verdict, size)


def test_what_the_runtime_of_1_25_chooses_fits() -> None:
    for cpus in range(1, 17):
        for quarter in range(1, 80):
            limit = quarter / 4
            by_itself = fitting_size(cpus, limit, least=2)
            assert judge(setting(by_itself), cpus, limit).verdict == "fits", (cpus, limit)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (setting(8), "go1.24.1 does not heed CPU limits"),
        (setting(8, chosen="environment"), "set in the environment"),
        (setting(8, chosen="program"), "The program has set it itself"),
        (GoSetting(8, "go1.25.0", "runtime", ignores_limits=True), "containermaxprocs=0"),
        (setting(8, version=None), "not known"),
    ],
)
def test_the_reason_is_given(given: GoSetting, words: str) -> None:
    why = judge(given, 8, 2.0).why
    assert words in why
    assert "used up after 25% of it" in why


def test_versions() -> None:
    assert follows_limits(setting(1, "go1.24.9")) is False
    assert follows_limits(setting(1, "go1.25")) is True
    assert follows_limits(setting(1, "devel")) is None


@pytest.mark.parametrize(
    ("chosen", "unit", "container", "line"),
    [
        ("runtime", None, None, "GOMAXPROCS=2"),
        ("program", "web.service", None, "runtime.GOMAXPROCS(2)"),
        ("runtime", "web.service", None, "Environment=GOMAXPROCS=2"),
        ("runtime", "session-1.scope", None, "GOMAXPROCS=2"),
        ("runtime", "docker.service", "docker", "--env GOMAXPROCS=2"),
        ("environment", None, "kubernetes", 'env: [{name: GOMAXPROCS, value: "2"}]'),
    ],
)
def test_the_line_to_change(
    chosen: Chosen, unit: str | None, container: str | None, line: str
) -> None:
    assert change(2, of_go(setting(8, chosen=chosen)), unit, container) == line


@pytest.mark.parametrize(
    ("kind", "size", "fewer", "verdict"),
    [
        ("carriers", 8, 0, "fits"),
        ("tokio", 4, 0, "too-small"),
        ("fork-join", 7, 1, "fits"),
        ("fork-join", 6, 1, "too-small"),
        ("rayon", 9, 0, "too-large"),
        ("threads", 200, 0, "unknown"),
    ],
)
def test_pools_of_other_languages(kind: str, size: int, fewer: int, verdict: Verdict) -> None:
    pool = PoolSetting("requests", kind, size, "unknown", fewer=fewer)
    assert judge_pool(pool, 8, None).verdict == verdict
    assert judge_pool(pool, 8, 16.0).verdict == verdict


def test_a_limit_below_two_cores_fits_one_worker() -> None:
    pool = PoolSetting("tokio", "tokio", 2, "unknown")
    found = judge_pool(pool, 8, 0.5)
    assert (found.verdict, found.size) == ("too-large", 1)
    assert "used up after 25% of it" in found.why


@pytest.mark.parametrize(
    ("kind", "name", "unit", "container", "line"),
    [
        ("tokio", "main", None, None, "TOKIO_WORKER_THREADS=2"),
        ("rayon", "main", "a.service", None, "Environment=RAYON_NUM_THREADS=2"),
        ("processors", "p", None, None, "-XX:ActiveProcessorCount=2"),
        ("processors", "p", None, "docker", "--env JAVA_TOOL_OPTIONS=-XX:ActiveProcessorCount=2"),
        ("carriers", "c", None, None, "-Djdk.virtualThreadScheduler.parallelism=2"),
        (
            "fork-join",
            "common",
            None,
            "kubernetes",
            "env: [{name: JAVA_TOOL_OPTIONS, value: "
            '"-Djava.util.concurrent.ForkJoinPool.common.parallelism=2"}]',
        ),
        ("fork-join", "mine", None, "docker", "mine: 2 workers"),
    ],
)
def test_the_line_of_other_pools(
    kind: str, name: str, unit: str | None, container: str | None, line: str
) -> None:
    assert change(2, PoolSetting(name, kind, 8, "unknown"), unit, container) == line


def test_lists_of_cpus() -> None:
    assert count_cpus("0-3,8,10-11") == 7
    assert count_cpus("5") == 1
    with pytest.raises(ValueError, match="invalid"):
        count_cpus("a")


def test_requests_of_pods_are_read_from_weights() -> None:
    for cores in (0.25, 0.5, 1.0, 2.0, 4.0):
        assert request_of(weight_of(round(cores * 1024))) == pytest.approx(cores, abs=0.03)


def write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="ascii")


@pytest.mark.parametrize("version", [1, 2])
def test_an_allowance_is_read(tmp_path: Path, version: int) -> None:
    proc, groups = tmp_path / "proc", tmp_path / "cgroup"
    write(proc / "7" / "status", "Name:\tx\nCpus_allowed_list:\t0-3\n")
    path = "/kubepods.slice/pod"
    if version == 2:
        write(proc / "7" / "cgroup", f"0::{path}\n")
        write(groups / "kubepods.slice" / "cpu.max", "150000 100000\n")
        write(groups / "kubepods.slice" / "pod" / "cpu.weight", "39\n")
    else:
        write(proc / "7" / "cgroup", f"4:cpu,cpuacct:{path}\n0::/\n")
        write(groups / "cpu,cpuacct" / "kubepods.slice" / "cpu.cfs_quota_us", "150000\n")
        write(groups / "cpu,cpuacct" / "kubepods.slice" / "cpu.cfs_period_us", "100000\n")
        write(groups / "cpu,cpuacct" / "kubepods.slice" / "pod" / "cpu.shares", "1024\n")
    found = read_allowance(ProcFs(proc), 7, groups)
    assert (found.cpus, found.weight) == (4, 39)
    assert found.limit is not None
    assert found.limit.cores == 1.5
    assert not found.own_limit
    assert found.request == pytest.approx(1.0, abs=0.03)
    write(proc / "7" / "cgroup", "0::/\n")
    bare = read_allowance(ProcFs(proc), 7, groups)
    assert (bare.limit, bare.weight, bare.request) == (None, None, None)
    write(proc / "7" / "status", "Name:\tx\n")
    with pytest.raises(ValueError, match="no CPUs"):
        read_allowance(ProcFs(proc), 7, groups)


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("17.0.15", (17, 15)),
        ("21", (21, 0)),
        ("1.8.0_392", (8, 392)),
        ("24-ea", (24, 0)),
        ("", (None, 0)),
    ],
)
def test_versions_of_java(version: str, expected: tuple[int | None, int]) -> None:
    assert parse_version(version) == expected


@pytest.mark.parametrize(
    ("flags", "version", "limit", "weight", "own", "size"),
    [
        ([], "21.0.2", None, None, False, 8),
        ([], "21.0.2", 2.5, None, True, 3),
        ([], "21.0.2", 0.2, None, True, 1),
        ([], "21.0.2", 2.5, None, False, None),
        ([], "24", 2.5, None, False, 3),
        ([], "9.0.4", 2.0, None, True, 8),
        ([], "1.8.0_181", 2.0, None, True, 8),
        ([], "1.8.0_392", 2.0, None, True, 2),
        ([], "", 2.0, None, True, None),
        (["-XX:-UseContainerSupport"], "21", 2.0, None, True, 8),
        (["-XX:ActiveProcessorCount=5"], "21", 2.0, None, True, 5),
        (["-XX:ActiveProcessorCount=5", "-XX:ActiveProcessorCount=6"], "", None, None, True, 6),
        (["-XX:ActiveProcessorCount=-1"], "21", 2.0, None, True, 2),
        # A weight of 39 is a request of one core: older machines take it for a limit.
        ([], "11.0.16", None, 39, True, 1),
        ([], "11.0.17", None, 39, True, 8),
        ([], "11.0.16", None, 100, True, 8),
        ([], "11.0.16", 2.0, 39, True, 2),
        (["-XX:+UseContainerCpuShares"], "21", None, 79, True, 2),
        (["-XX:-UseContainerCpuShares"], "11.0.16", None, 39, True, 8),
    ],
)
def test_processors(
    flags: list[str],
    version: str,
    limit: float | None,
    weight: int | None,
    own: bool,
    size: int | None,
) -> None:
    assert processors(flags, version, 8, limit, weight, own_limit=own).size == size


def test_who_chose_it_and_why() -> None:
    given = processors(["-XX:ActiveProcessorCount=5"], "21", 8, 2.0, None, own_limit=True)
    assert (given.chosen, given.name) == ("environment", "Active processors")
    assert "ActiveProcessorCount=5" in given.reason
    old = processors([], "9.0.4", 8, 2.0, None, own_limit=True)
    assert (old.chosen, old.reason) == ("runtime", "Java 9.0.4 does not heed CPU limits.")


HEAD = "Num       RefCount Protocol Flags    Type St Inode Path\n"
LINE = "00000000a7ae2ab5: 00000002 00000000 {flags} 0001 {state} 19849 {path}\n"


def test_sockets_that_listen_and_are_called_like_that_of_an_agent(tmp_path: Path) -> None:
    sockets = [
        ("00010000", "01", "/run/user/1000/tidscope/7.sock.new"),
        ("00010000", "01", "/run/other/9.sock"),
        ("00000000", "03", "/run/user/1000/tidscope/8.sock.new"),
        ("00010000", "01", "@/run/user/1000/tidscope/8.sock.new"),
        ("00010000", "01", "/run/8.sock.new/other"),
    ]
    for pid in (7, 8, 9):
        (tmp_path / f"{pid}" / "net").mkdir(parents=True)
        (tmp_path / f"{pid}" / "net" / "unix").write_text(
            HEAD + "".join(LINE.format(flags=f, state=s, path=p) for f, s, p in sockets)
        )
    inside = process(20).model_copy(update={"namespace_pid": 7})
    (tmp_path / "20" / "net").mkdir(parents=True)
    (tmp_path / "20" / "net" / "unix").hardlink_to(tmp_path / "7" / "net" / "unix")
    listed = [process(7), process(8), process(9), inside, process(30)]
    found = with_agents(ProcFs(tmp_path), listed)
    assert [one.pid for one in found] == [7, 9, 20]
