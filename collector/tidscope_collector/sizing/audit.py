"""Audit of pool sizes: finds programs with pools, reads sizes and allowances, and judges them.

Programs with an agent are found by their listening sockets. An agent binds PID.sock.new and renames
it (docs/agents.md); the kernel goes on listing the bound name. The peer is checked on connecting.

Sources of the active processors of a Java virtual machine: OpenJDK's
src/hotspot/os/linux/cgroupSubsystem_linux.cpp (CgroupSubsystem::active_processor_count) and
os_linux.cpp; JDK-8146115 (limits of containers, JDK 10 and 8u191), JDK-8281181 (CPU shares do not
count, JDK 19, 18.0.2, 17.0.5 and 11.0.17).
"""

import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

from tidscope_wire.generated.models import CpuAllowance, Process, SizeAudit, SizedProgram

from tidscope_collector.inspection.asking import NoAnswerError, UnreadableError
from tidscope_collector.inspection.conversation import JavaCountersReader
from tidscope_collector.inspection.gomaxprocs import open_gomaxprocs
from tidscope_collector.inspection.reader import ask_go_chosen, ask_go_environment
from tidscope_collector.pools.reader import AgentPoolSource
from tidscope_collector.pools.registry import PoolsUnreadableError
from tidscope_collector.procfs.control_groups import GROUPS
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.sizing.allowance import SHARES_A_CORE, Allowance, read_allowance
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

DEFAULT_WEIGHT = 100
PROCESSORS = "Active processors"
_VERSION = re.compile(r"(?:1\.)?(\d+)(?:\.\d+\.(\d+)|.*_(\d+))?")
_WITHOUT_SHARES = {18: 2, 17: 5, 11: 17}
"""Updates from which shares are ignored, by version; from 19 on they always are."""
_HEEDS_LIMITS = 10
_HEEDS_LIMITS_8 = 191
_SEES_ABOVE = 24
"""First version that sees limits of parent groups; older ones see only their own group's."""


def processors(
    flags: Sequence[str],
    version: str,
    cpus: int,
    limit_cores: float | None,
    weight: int | None,
    *,
    own_limit: bool,
) -> PoolSetting:
    """Return the processor count by which the machine sizes its pools.

    Args:
        flags: relevant arguments of the machine.
        version: version of Java, such as 17.0.15.
        cpus: number of CPUs in the affinity.
        limit_cores: tightest limit of the control groups, in cores, or None.
        weight: weight of the own control group in version 2 terms; None if unknown.
        own_limit: True if the limit belongs to the own control group.
    """
    given = _given(flags)
    major, update = parse_version(version)
    size: int | None = cpus
    chosen: Chosen = "runtime"
    reason = ""
    if given is not None:
        size, chosen = given, "environment"
        reason = f"-XX:ActiveProcessorCount={given} is among its arguments."
    elif major is None:
        size, chosen, reason = None, "unknown", "The version of the machine is not known."
    elif _last_sign(flags, "UseContainerSupport") == "-":
        chosen, reason = "environment", "-XX:-UseContainerSupport keeps it from heeding limits."
    elif major < _HEEDS_LIMITS and not (major == 8 and update >= _HEEDS_LIMITS_8):
        reason = f"Java {version} does not heed CPU limits."
    elif limit_cores is not None and not own_limit and major < _SEES_ABOVE:
        size, chosen = None, "unknown"
        reason = "The limit is that of a group above its own, which it may not see."
    elif limit_cores is not None:
        size = min(cpus, math.ceil(limit_cores - 1e-9))
    elif weight is not None and weight != DEFAULT_WEIGHT and _counts_shares(flags, major, update):
        size = min(cpus, max(1, math.ceil(_shares(weight) / SHARES_A_CORE)))
        reason = f"Java {version} takes the weight {weight} of its control group for a limit."
    return PoolSetting(PROCESSORS, "processors", size, chosen, reason)


def _shares(weight: int) -> float:
    """Return the shares of version 1 for a weight of version 2."""
    return 2 + (weight - 1) * 262142 / 9999


def parse_version(version: str) -> tuple[int | None, int]:
    """Return version and update: 17.0.15 is (17, 15), 1.8.0_392 is (8, 392)."""
    found = _VERSION.match(version)
    if found is None:
        return None, 0
    return int(found[1]), int(found[2] or found[3] or 0)


def _given(flags: Sequence[str]) -> int | None:
    """Return the last ActiveProcessorCount; values of 0 or less are ignored."""
    prefix = "-XX:ActiveProcessorCount="
    found = [int(flag.removeprefix(prefix)) for flag in flags if flag.startswith(prefix)]
    return found[-1] if found and found[-1] > 0 else None


def _last_sign(flags: Sequence[str], switch: str) -> str:
    """Return the last sign of a switch, + or -; empty if absent."""
    signs = [flag[4] for flag in flags if flag[5:] == switch]
    return signs[-1] if signs else ""


def _counts_shares(flags: Sequence[str], major: int, update: int) -> bool:
    sign = _last_sign(flags, "UseContainerCpuShares")
    if sign:
        return sign == "+"
    return major < 19 and update < _WITHOUT_SHARES.get(major, 1 << 30)


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
