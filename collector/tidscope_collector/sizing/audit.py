"""Audit of pool sizes: finds programs with pools, reads sizes and allowances, and judges them.

Programs with an agent are found by their listening sockets. An agent binds PID.sock.new and renames
it (docs/agents.md); the kernel goes on listing the bound name. The peer is checked on connecting.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

from tidscope_wire.generated.models import CpuAllowance, Process, SizeAudit, SizedProgram

from tidscope_collector.inspection.asking import NoAnswerError, UnreadableError
from tidscope_collector.inspection.conversation import JavaCountersReader
from tidscope_collector.inspection.gomaxprocs import open_gomaxprocs
from tidscope_collector.inspection.reader import ask_go_chosen, ask_go_environment
from tidscope_collector.pools.agent_source import AgentPoolSource
from tidscope_collector.pools.registry import PoolsUnreadableError
from tidscope_collector.procfs.cgroup import GROUPS
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.sizing.allowance import Allowance, read_allowance
from tidscope_collector.sizing.java_processors import NAME as PROCESSORS
from tidscope_collector.sizing.java_processors import processors
from tidscope_collector.sizing.judgement import (
    COMMON,
    Chosen,
    GoSetting,
    PoolSetting,
    Verdict,
    change,
    follows_limits,
    judge_pool,
    of_go,
)

_MAX_BYTES = 4 << 20
_LISTENING = re.compile(
    rb"^\S+: [0-9A-F]+ [0-9A-F]+ 0001[0-9]{4} 0001 01 +\d+ /[^\n]*?/(\d{1,10})\.sock(?:\.new)?$",
    re.MULTILINE,
)
MAX_PROGRAMS = 128
MAX_POOLS = 256
MAX_OF_AGENT = 8
"""Maximum pools judged per program with an agent."""
ANSWER_S = 3.0
Source = Literal["memory", "hsperfdata", "agent"]
_ORDER: tuple[Verdict, ...] = ("too-large", "too-small", "unknown", "fits")


def with_agents(procfs: ProcFs, processes: Sequence[Process]) -> list[Process]:
    """Return processes whose network namespace has a socket named as their agent's."""
    # The table's inode identifies the namespace, which itself may be inaccessible.
    listening: dict[int, frozenset[int]] = {}
    found = []
    for one in processes:
        try:
            namespace = Path(procfs.path(f"{one.pid}/net/unix")).stat().st_ino
            if namespace not in listening:
                listening[namespace] = _sockets(procfs, one.pid)
        except OSError:
            continue
        if (one.namespace_pid or one.pid) in listening[namespace]:
            found.append(one)
    return found


def _sockets(procfs: ProcFs, pid: int) -> frozenset[int]:
    table = procfs.read(f"{pid}/net/unix", _MAX_BYTES)
    return frozenset(int(name) for name in _LISTENING.findall(table))


def audit_sizes(procfs: ProcFs, processes: Sequence[Process], groups: Path = GROUPS) -> SizeAudit:
    """Audit every Go program, Java virtual machine and program with an agent.

    Takes some milliseconds per program.

    Args:
        procfs: root of /proc.
        processes: processes of the host's list.
        groups: mount point of control groups.
    """
    listed = [one for one in processes if one.refusal is None]
    agents = {one.pid for one in with_agents(procfs, listed)}
    programs = [one for one in listed if one.runtime in ("go", "java") or one.pid in agents]
    found = [
        sized
        for one in programs[:MAX_PROGRAMS]
        for sized in _audit(procfs, one, groups, agent=one.pid in agents)
    ]
    found.sort(key=lambda one: (_ORDER.index(one.verdict), one.process.pid))
    return SizeAudit(
        programs=found[:MAX_POOLS],
        omitted=max(0, len(programs) - MAX_PROGRAMS) + max(0, len(found) - MAX_POOLS),
    )


def _audit(
    procfs: ProcFs, process: Process, groups: Path, *, agent: bool
) -> Iterator[SizedProgram]:
    """Yield the pools of one program; none if it has ended."""
    try:
        allowance = read_allowance(procfs, process.pid, groups)
    except (OSError, ValueError):
        return
    settings: list[tuple[PoolSetting, Source]] = []
    if process.runtime == "go":
        settings.append((of_go(_read_setting(process)), "memory"))
    if process.runtime == "java":
        settings.append((_read_processors(process, allowance), "hsperfdata"))
    if agent:
        settings += [(one, "agent") for one in _read_agent(procfs, process)]
    limit = allowance.limit
    container = None if process.container is None else process.container.runtime
    for setting, source in settings:
        judgement = judge_pool(setting, allowance.cpus, None if limit is None else limit.cores)
        yield SizedProgram(
            process=process,
            allowance=_reported(allowance),
            pool=setting.name,
            kind=setting.kind,
            size=setting.size,
            source=source,
            chosen=setting.chosen,
            verdict=judgement.verdict,
            why=judgement.why[:1024],
            change=None
            if judgement.size is None
            else change(judgement.size, setting, process.unit, container)[:256],
        )


def _read_processors(process: Process, allowance: Allowance) -> PoolSetting:
    try:
        reader = JavaCountersReader(process.pid, process.start_ticks)
    except NoAnswerError as error:
        return PoolSetting(PROCESSORS, "processors", None, "unknown", str(error))
    try:
        counters = reader.read()
    except NoAnswerError as error:
        return PoolSetting(PROCESSORS, "processors", None, "unknown", str(error))
    finally:
        reader.close()
    limit = allowance.limit
    return processors(
        counters.flags,
        counters.texts.get("java.property.java.version", ""),
        allowance.cpus,
        None if limit is None else limit.cores,
        allowance.weight,
        own_limit=allowance.own_limit,
    )


def _read_agent(procfs: ProcFs, process: Process) -> Iterator[PoolSetting]:
    source = AgentPoolSource(procfs, process.pid, process.start_ticks)
    try:
        pools = source.read()
    except PoolsUnreadableError:
        return
    finally:
        source.close()
    for pool in pools[:MAX_OF_AGENT]:
        # GOMAXPROCS of Go programs was read from memory, with its origin.
        if pool.size and not (pool.kind == "gomaxprocs" and process.runtime == "go"):
            fewer = 1 if pool.kind == "fork-join" and pool.name in COMMON else 0
            yield PoolSetting(pool.name, pool.kind, pool.size, "unknown", fewer=fewer)


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


def _read_setting(process: Process) -> GoSetting:
    pid, start = process.pid, process.start_ticks
    value = _read_gomaxprocs(pid, start)
    try:
        variables = ask_go_environment(pid, start)
    except (UnreadableError, NoAnswerError):
        return GoSetting(value, process.runtime_version, "unknown")
    ignores = "containermaxprocs=0" in variables.get("GODEBUG", "").replace(" ", "").split(",")
    setting = GoSetting(value, process.runtime_version, "runtime", ignores)
    return GoSetting(
        value,
        process.runtime_version,
        _who_chose(process, variables.get("GOMAXPROCS", ""), setting),
        ignores,
    )


def _read_gomaxprocs(pid: int, start_ticks: int) -> int | None:
    reader = open_gomaxprocs(pid, start_ticks).reader
    if reader is None:
        return None
    try:
        reader.request()
        return reader.collect(ANSWER_S)
    finally:
        reader.close()


def _who_chose(process: Process, variable: str, setting: GoSetting) -> Chosen:
    by_environment = re.fullmatch(r"\+?[0-9]+", variable) is not None and int(variable) > 0
    if by_environment and setting.gomaxprocs == int(variable):
        return "environment"
    if by_environment:
        return "program"
    if follows_limits(setting) is None or setting.gomaxprocs is None:
        return "unknown"
    try:
        chosen = ask_go_chosen(process.pid, process.start_ticks)
    except (UnreadableError, NoAnswerError):
        return "unknown"
    if chosen is None:
        # The runtime records it from Go 1.25 on; only debug information gives the address.
        return "unknown"
    return "program" if chosen else "runtime"
