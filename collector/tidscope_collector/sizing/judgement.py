"""Verdict on the size of a pool, and the setting that makes it fit. Pure.

Sources: Go's documentation of runtime.GOMAXPROCS, and the release notes of 1.25. Since 1.25 the
default is the smaller of the affinity's CPUs and the CPU limit, rounded up and at least 2, updated
once per second. Before, the limit was ignored. (The library automaxprocs rounds down, to at least
1.)
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Verdict = Literal["fits", "too-large", "too-small", "unknown"]
Chosen = Literal["environment", "program", "runtime", "unknown"]

COMPUTING = frozenset({"gomaxprocs", "processors", "carriers", "fork-join", "tokio", "rayon"})
"""Kinds of pools whose workers compute, so that one per core fits."""
COMMON = ("ForkJoinPool.commonPool", "commonPool", "common")
"""Names of Java's common pool."""
LINES: Mapping[str, tuple[str, str, bool]] = {
    "gomaxprocs": ("GOMAXPROCS", "{size}", False),
    "processors": ("JAVA_TOOL_OPTIONS", "-XX:ActiveProcessorCount={size}", True),
    "carriers": ("JAVA_TOOL_OPTIONS", "-Djdk.virtualThreadScheduler.parallelism={size}", True),
    "fork-join": (
        "JAVA_TOOL_OPTIONS",
        "-Djava.util.concurrent.ForkJoinPool.common.parallelism={size}",
        True,
    ),
    "tokio": ("TOKIO_WORKER_THREADS", "{size}", False),
    "rayon": ("RAYON_NUM_THREADS", "{size}", False),
}
"""Setting by kind: a variable, its value, and True if the value is also a program argument."""
FOLLOWS_LIMITS = (1, 25)
MIN_BY_LIMIT = 2
_VERSION = re.compile(r"go(\d+)\.(\d+)")


@dataclass(frozen=True, slots=True)
class GoSetting:
    """GOMAXPROCS of a Go program.

    Attributes:
        gomaxprocs: value in effect; None if unknown.
        version: version such as go1.26.8; None if unknown.
        chosen: origin of the value.
        ignores_limits: True if GODEBUG has containermaxprocs=0.
    """

    gomaxprocs: int | None
    version: str | None
    chosen: Chosen
    ignores_limits: bool = False


@dataclass(frozen=True, slots=True)
class PoolSetting:
    """Size of a pool.

    Attributes:
        name: name of the pool.
        kind: kind such as gomaxprocs, carriers or threads.
        size: maximum number of workers; None if unknown.
        chosen: origin of the size.
        reason: reason for the size, a sentence.
        least: smallest size that a lower limit can justify.
        fewer: tolerated shortfall below the number of cores.
    """

    name: str
    kind: str
    size: int | None
    chosen: Chosen
    reason: str = ""
    least: int = 1
    fewer: int = 0


@dataclass(frozen=True, slots=True)
class Judgement:
    """Result of judging a pool.

    Attributes:
        verdict: whether the size fits.
        why: explanation, one or two sentences.
        size: size that fits; None if the current one does, or if unknown.
    """

    verdict: Verdict
    why: str
    size: int | None


def judge(setting: GoSetting, cpus: int, limit_cores: float | None) -> Judgement:
    """Judge GOMAXPROCS; see `judge_pool`."""
    return judge_pool(of_go(setting), cpus, limit_cores)


def of_go(setting: GoSetting) -> PoolSetting:
    """Return GOMAXPROCS as a pool. The runtime never goes below 2 for a limit; that is correct."""
    return PoolSetting(
        "GOMAXPROCS",
        "gomaxprocs",
        setting.gomaxprocs,
        setting.chosen,
        _reason(setting),
        least=MIN_BY_LIMIT,
    )


def judge_pool(setting: PoolSetting, cpus: int, limit_cores: float | None) -> Judgement:
    """Judge the size of a pool by what its program may use.

    Args:
        setting: current size.
        cpus: number of CPUs in the program's affinity.
        limit_cores: tightest limit of the control groups, in cores, or None.
    """
    now, name = setting.size, setting.name
    if now is None:
        return Judgement("unknown", f"{name} cannot be read. {setting.reason}".strip(), None)
    if setting.kind not in COMPUTING:
        workers = "worker" if now == 1 else "workers"
        why = (
            f"{name} has {now} {workers} of kind {setting.kind}: how many are right depends on "
            "what they wait for, which `tidscope sweep` shows."
        )
        return Judgement("unknown", why, None)
    fitting = fitting_size(cpus, limit_cores)
    most = fitting_size(cpus, limit_cores, least=setting.least)
    if limit_cores is not None and limit_cores < cpus and now > most:
        why = (
            f"{name} is {now}, but its control group has {limit_cores:g} cores: when {now} "
            f"threads run, the time of a period is used up after {limit_cores / now:.0%} of it, "
            f"and all of them stand still until the next. {setting.reason}"
        )
        return Judgement("too-large", why.strip(), fitting)
    if now > cpus:
        may = f"it may use {cpus} {_cpus(cpus)}"
        why = f"{name} is {now}, but {may}. {setting.reason}".strip()
        return Judgement("too-large", why, cpus)
    if now < fitting - setting.fewer and now < _whole_cores(cpus, limit_cores) - setting.fewer:
        why = f"{name} is {now}, but it may use {fitting} cores. {setting.reason}".strip()
        return Judgement("too-small", why, fitting)
    return Judgement("fits", f"{name} is {now}, as it may use.", None)


def fitting_size(cpus: int, limit_cores: float | None, least: int = 1) -> int:
    """Return the smallest size that can use the whole allowance."""
    if limit_cores is None:
        return cpus
    return min(cpus, max(least, math.ceil(limit_cores - 1e-9)))


def change(size: int, setting: PoolSetting, unit: str | None, container: str | None) -> str:
    """Return the line that sets a size.

    Args:
        size: size that fits.
        setting: current size.
        unit: systemd unit of the program, or None.
        container: runtime of its container, such as kubernetes, or None.
    """
    if setting.kind == "gomaxprocs" and setting.chosen == "program":
        return f"runtime.GOMAXPROCS({size})"
    found = LINES.get(setting.kind)
    if found is None or (setting.kind == "fork-join" and setting.name not in COMMON):
        return f"{setting.name}: {size} workers"
    variable, text, argument = found
    value = text.format(size=size)
    if container == "kubernetes":
        return f'env: [{{name: {variable}, value: "{value}"}}]'
    if container is not None:
        return f"--env {variable}={value}"
    if unit is not None and unit.endswith(".service"):
        return f"Environment={variable}={value}"
    return value if argument else f"{variable}={value}"


def follows_limits(setting: GoSetting) -> bool | None:
    """Return whether the runtime heeds CPU limits; None if its version is unknown."""
    found = _VERSION.match(setting.version or "")
    if found is None:
        return None
    return (int(found[1]), int(found[2])) >= FOLLOWS_LIMITS and not setting.ignores_limits


def _reason(setting: GoSetting) -> str:
    if setting.chosen == "environment":
        return "It is set in the environment that the program was started with."
    if setting.chosen == "program":
        return "The program has set it itself."
    if setting.ignores_limits:
        return "GODEBUG=containermaxprocs=0 keeps the runtime from heeding the limit."
    if follows_limits(setting) is False:
        return f"{setting.version} does not heed CPU limits; Go 1.25 and newer do."
    return "Who chose it is not known."


def _whole_cores(cpus: int, limit_cores: float | None) -> int:
    """Return cores usable all the time; a fraction of one does not justify another thread."""
    return cpus if limit_cores is None else min(cpus, max(1, math.floor(limit_cores)))


def _cpus(count: int) -> str:
    return "CPU" if count == 1 else "CPUs"
