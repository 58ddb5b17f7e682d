"""Removal of arguments and output of programs, which may contain secrets, for viewers.

A hidden command line is null, so that readers can show the omission; names and executables stay.
Process titles in frames become empty.
"""

import pyarrow as pa
from tidscope_wire.frame import join, row_bytes, split
from tidscope_wire.generated.models import (
    Comparison,
    Experiment,
    Group,
    LiveState,
    Process,
    RunManifest,
    RunsResponse,
    RunSummary,
    Target,
    TraceDetail,
)
from tidscope_wire.groups import tree_name
from tidscope_wire.table_streams import decode_table, encode_table, table_parts

COMMAND_ASPECT = "command"
"""Name of the command line among the differences between setups."""
HIDDEN = "(hidden from viewers)"


def experiment_without(experiment: Experiment) -> Experiment:
    """Return an experiment without reasons of failures, which may contain output of programs."""
    cells = [
        one.model_copy(update={"failures": [HIDDEN] * len(one.failures)})
        for one in experiment.cells
    ]
    return experiment.model_copy(update={"cells": cells})


def process_without(process: Process) -> Process:
    """Return a process without its arguments."""
    return process.model_copy(update={"command": None})


def target_without(target: Target) -> Target:
    """Return a target without its process's arguments, or those that select its processes."""
    process = process_without(target.process)
    group = _group_without(target.group, process.name)
    return target.model_copy(update={"process": process, "group": group})


def _group_without(group: Group | None, lead: str) -> Group | None:
    """Return a group without its lead's arguments, or those that select its processes."""
    if group is not None and group.kind == "tree":
        return group.model_copy(update={"name": tree_name(lead)})
    if group is not None and group.kind == "match":
        return group.model_copy(update={"value": None, "name": f"all that match {HIDDEN}"})
    return group


def frame_without(data: bytes) -> bytes:
    """Return a frame whose processes have no titles.

    Raises:
        tidscope_wire.frame.FrameError: the data is not a frame.
    """
    if b'"processes"' not in data:
        return data
    header, body = split(data)
    described, tables = [], list[bytes | memoryview]()
    for one, encoded in table_parts(header, body):
        tables.append(encoded)
        if one.name == "processes":
            table = decode_table(one.name, encoded)
            table["title"] = ""
            tables[-1] = encode_table(one.name, table)
        described.append(one.model_copy(update={"bytes": len(tables[-1])}))
    rows = body[: row_bytes(header, body)]
    header = header.model_copy(update={"tables": described or None})
    return join(header, rows, b"".join(tables))


def processes_without(table: pa.Table) -> pa.Table:
    """Return rows of the table `processes` without titles."""
    place = table.column_names.index("title")
    empty = pa.repeat(pa.scalar("", pa.utf8()), len(table))
    return table.set_column(place, "title", empty)


def state_without(state: LiveState) -> LiveState:
    """Return hosts and targets without arguments."""
    return state.model_copy(update={"targets": [target_without(each) for each in state.targets]})


def manifest_without(manifest: RunManifest) -> RunManifest:
    """Return a manifest without arguments and without the command's output."""
    outcome = manifest.outcome
    if outcome is not None:
        outcome = outcome.model_copy(update={"command": None, "output_tail": None})
    return manifest.model_copy(
        update={"target": target_without(manifest.target), "outcome": outcome}
    )


def runs_without(runs: RunsResponse) -> RunsResponse:
    """Return a list of runs without arguments."""

    def hide(listed: list[RunSummary]) -> list[RunSummary]:
        return [
            each.model_copy(
                update={
                    "command": None,
                    "target_group": _group_without(each.target_group, each.process),
                }
            )
            for each in listed
        ]

    return runs.model_copy(update={"runs": hide(runs.runs), "deleted": hide(runs.deleted)})


def comparison_without(comparison: Comparison) -> Comparison:
    """Return a comparison that shows at most that arguments differ."""
    setup = [
        each.model_copy(update={"values": [HIDDEN] * len(each.values)})
        if each.what == COMMAND_ASPECT
        else each
        for each in comparison.setup
    ]
    return comparison.model_copy(update={"setup": setup})


def trace_without(trace: TraceDetail) -> TraceDetail:
    """Return a trace without span attributes, which contain queries and addresses."""
    spans = [span.model_copy(update={"attributes": {}}) for span in trace.spans]
    return trace.model_copy(update={"spans": spans})
