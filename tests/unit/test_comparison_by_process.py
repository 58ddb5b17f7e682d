"""Roles split by the names of their processes."""

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pytest
from compared_runs import Life, threads
from group_story import FIELDS as STORY_FIELDS
from group_story import group_story
from run_folders import run_folder
from tidscope_backend.comparison.from_folders import compare_folders
from tidscope_backend.comparison.matching import split_by_process
from tidscope_backend.comparison.sides import Side
from tidscope_backend.recording.sealing import write_summaries
from tidscope_wire.generated.models import Comparison, Group

ZERO = (0, 0, 0)
GROUP = Group(
    kind="tree",
    value=None,
    name="make and its descendants",
    cgroup=None,
    discovery="ebpf",
    discovery_reason="",
)


def lives(roles: Sequence[str], pids: Sequence[int] | None = None) -> pa.Table:
    """Threads 100, 101 and so on."""
    made = threads([Life(role, ZERO, ZERO) for role in roles])
    return made if pids is None else made.append_column("pid", pa.array(pids, pa.uint32()))


def roles(table: pa.Table) -> list[str]:
    found: list[str] = table.column("role").to_pylist()
    return found


def test_processes_are_called_as_their_rows_say_and_else_as_their_main_threads() -> None:
    table = lives(["a", "b-#", "c", "b-#", "b-#"], [100, 100, 102, 102, 7])
    rows = pa.table({"pid": pa.array([100, 0], pa.uint32()), "name": ["postgres", "old"]})
    assert roles(split_by_process(table, rows, "lead")) == [
        "postgres → a",
        "postgres → b-#",
        "c → c",
        "c → b-#",
        "unknown → b-#",
    ]


def test_of_one_process_all_roles_are_its_own() -> None:
    assert roles(split_by_process(lives(["a", "b"]), None, "work")) == ["work → a", "work → b"]


def test_runs_of_groups_are_compared_by_process_and_role(tmp_path: Path) -> None:
    paths = []
    for name in ("r-20261121-120000-000001", "r-20261121-120000-000002"):
        folder = run_folder(tmp_path / name, [group_story(120)], STORY_FIELDS, 1)
        write_summaries(folder)
        made = folder.read_manifest()
        group = made.target.model_copy(update={"group": GROUP})
        folder.write_manifest(made.model_copy(update={"id": name, "target": group}))
        paths.append([Side(folder.path)])
    whole = compare_folders(paths)
    assert (whole.split, whole.several_processes) == ("none", True)
    split = compare_folders(paths, split="process")
    assert {role.label for role in split.roles} == {"make → make", "cc1 → cc#"}
    assert {role.label for role in whole.roles} == {"make", "cc#"}

    def cpu(found: Comparison, role: str) -> float | None:
        of_role = [one for one in found.metrics if one.role == role]
        (one,) = [one for one in of_role if one.metric == "cpu_run_ns"]
        return one.groups[0].mean

    assert cpu(split, "cc1 → cc#") == pytest.approx(cpu(whole, "cc#"))
    # Frames have the totals of roles over all processes.
    assert not [one for one in split.series if one.role is not None]
