"""All Go programs of a host: GOMAXPROCS, what they may use, and whether the two fit."""

import re
from collections.abc import Sequence
from pathlib import Path

from tidscope_wire.generated.models import CpuAllowance, Process, SizeAudit, SizedProgram

from tidscope_collector.foreign.gomaxprocs import open_gomaxprocs
from tidscope_collector.foreign.reader import (
    NoAnswerError,
    UnreadableError,
    ask_environment,
    ask_go_chosen,
)
from tidscope_collector.procfs.cgroup import GROUPS
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.sizing.allowance import Allowance, read_allowance
from tidscope_collector.sizing.judgement import (
    Chosen,
    GoSetting,
    Verdict,
    change,
    follows_limits,
    judge,
)

MOST_PROGRAMS = 128
ANSWER_S = 3.0
_ORDER: tuple[Verdict, ...] = ("too-large", "too-small", "unknown", "fits")


def audit_sizes(procfs: ProcFs, processes: Sequence[Process], groups: Path = GROUPS) -> SizeAudit:
    """Look at every Go program among processes; takes some milliseconds for each.

    Args:
        procfs: root of /proc.
        processes: as they are listed.
        groups: where control groups are mounted.
    """
    programs = [one for one in processes if one.runtime == "go" and one.refusal is None]
    found = [
        sized
        for one in programs[:MOST_PROGRAMS]
        if (sized := _audit(procfs, one, groups)) is not None
    ]
    found.sort(key=lambda one: (_ORDER.index(one.verdict), one.process.pid))
    return SizeAudit(programs=found, omitted=max(0, len(programs) - MOST_PROGRAMS))


def _audit(procfs: ProcFs, process: Process, groups: Path) -> SizedProgram | None:
    """One program; None: it has ended."""
    try:
        allowance = read_allowance(procfs, process.pid, groups)
    except (OSError, ValueError):
        return None
    setting = _read_setting(procfs, process)
    limit = allowance.limit
    judgement = judge(setting, allowance.cpus, None if limit is None else limit.cores)
    container = None if process.container is None else process.container.runtime
    return SizedProgram(
        process=process,
        allowance=_reported(allowance),
        gomaxprocs=setting.gomaxprocs,
        chosen=setting.chosen,
        verdict=judgement.verdict,
        why=judgement.why,
        change=None
        if judgement.size is None
        else change(judgement.size, setting, process.unit, container),
    )


def _reported(allowance: Allowance) -> CpuAllowance:
    limit = allowance.limit
    return CpuAllowance(
        cpus=allowance.cpus,
        limit_cores=None if limit is None else limit.cores,
        limit_group=None if limit is None else str(limit.group)[:4096],
        weight=allowance.weight,
        request_cores=allowance.request,
        periods=None if limit is None else limit.periods,
        throttled=None if limit is None else limit.throttled,
    )


def _read_setting(procfs: ProcFs, process: Process) -> GoSetting:
    pid, start = process.pid, process.start_ticks
    value = _read_gomaxprocs(procfs, pid, start)
    try:
        variables = ask_environment(procfs, pid, start, ["GOMAXPROCS", "GODEBUG"])
    except (UnreadableError, NoAnswerError):
        return GoSetting(value, process.runtime_version, "unknown")
    ignores = "containermaxprocs=0" in variables.get("GODEBUG", "").replace(" ", "").split(",")
    setting = GoSetting(value, process.runtime_version, "runtime", ignores)
    return GoSetting(
        value,
        process.runtime_version,
        _who_chose(procfs, process, variables.get("GOMAXPROCS", ""), setting),
        ignores,
    )


def _read_gomaxprocs(procfs: ProcFs, pid: int, start_ticks: int) -> int | None:
    reader = open_gomaxprocs(procfs, pid, start_ticks).reader
    if reader is None:
        return None
    try:
        reader.request()
        return reader.collect(ANSWER_S)
    finally:
        reader.close()


def _who_chose(procfs: ProcFs, process: Process, variable: str, setting: GoSetting) -> Chosen:
    by_environment = re.fullmatch(r"\+?[0-9]+", variable) is not None and int(variable) > 0
    if by_environment and setting.gomaxprocs == int(variable):
        return "environment"
    if by_environment:
        return "program"
    if follows_limits(setting) is None or setting.gomaxprocs is None:
        return "unknown"
    try:
        chosen = ask_go_chosen(procfs, process.pid, process.start_ticks)
    except (UnreadableError, NoAnswerError):
        return "unknown"
    if chosen is None:
        # The runtime remembers it from 1.25 on, and only its debug information says where.
        return "unknown"
    return "program" if chosen else "runtime"
