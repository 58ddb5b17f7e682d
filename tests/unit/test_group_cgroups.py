"""Control groups by path, in the hierarchies in which processes are followed."""

from pathlib import Path

import pytest
from tidscope_collector.groups.cgroups import (
    Cgroup,
    find_cgroups,
    processes_in,
    v1_hierarchy,
)
from tidscope_collector.procfs.files import ProcFs


def proc(folder: Path, lines: str) -> ProcFs:
    (folder / "self").mkdir(parents=True)
    (folder / "self" / "cgroup").write_text(lines)
    return ProcFs(folder)


def group(root: Path, path: str) -> Path:
    folder = root / path
    folder.mkdir(parents=True)
    (folder / "cgroup.procs").write_text("")
    return folder


@pytest.mark.parametrize(
    ("lines", "number"),
    [
        ("0::/init.scope\n", 0),
        ("5:cpu,cpuacct:/\n1:memory:/\n", 5),
        ("x:cpuacct:/\n", 0),
    ],
)
def test_the_hierarchy_of_version_1(lines: str, number: int, tmp_path: Path) -> None:
    assert v1_hierarchy(proc(tmp_path, lines)) == number


def test_without_a_list_there_is_no_hierarchy(tmp_path: Path) -> None:
    assert v1_hierarchy(ProcFs(tmp_path)) == 0


def test_a_group_is_found_in_each_hierarchy(tmp_path: Path) -> None:
    procfs, groups = proc(tmp_path / "proc", "5:cpu,cpuacct:/\n"), tmp_path / "cgroup"
    newer = group(groups / "unified", "web/one")
    older = group(groups / "cpu,cpuacct", "web/one")
    assert find_cgroups(procfs, "/web/one", groups) == [
        Cgroup(newer, newer.stat().st_ino, 0),
        Cgroup(older, older.stat().st_ino, 5),
    ]
    assert find_cgroups(procfs, "/web/two", groups) == []


@pytest.mark.parametrize("path", ["/web/../../etc", "/./web"])
def test_no_path_leads_out(path: str, tmp_path: Path) -> None:
    procfs = proc(tmp_path / "proc", "0::/\n")
    group(tmp_path / "cgroup", "web")
    assert find_cgroups(procfs, path, tmp_path / "cgroup") == []
    assert processes_in(procfs, path) == set()


def test_a_group_in_a_hierarchy_that_nobody_follows(tmp_path: Path) -> None:
    procfs = proc(tmp_path / "proc", "9:name=systemd:/\n5:cpu:/\n2:cpuacct:/\n0::/\n")
    groups = tmp_path / "cgroup"
    named = group(groups / "systemd", "web/one")
    found = Cgroup(named, named.stat().st_ino, 9, followed=False)
    assert find_cgroups(procfs, "/web/one", groups) == [found]
    # That of cpu is not that of cpuacct, whose number it would have.
    beside = group(groups / "cpu", "web/two")
    assert find_cgroups(procfs, "/web/two", groups) == [
        Cgroup(beside, beside.stat().st_ino, 5, followed=False)
    ]
    older = group(groups / "cpuacct", "web/one")
    assert find_cgroups(procfs, "/web/one", groups) == [Cgroup(older, older.stat().st_ino, 2)]
