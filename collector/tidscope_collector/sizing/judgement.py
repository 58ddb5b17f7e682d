"""Whether the size of a pool fits what its program may use, and the line that makes it fit. Pure.

Source of what the runtime does by itself: runtime.GOMAXPROCS in Go's documentation, and its
release notes of 1.25. Since 1.25 the default is the smaller of the CPUs of the affinity and of the
control groups' CPU limit, the limit rounded up and never below 2, followed once a second; before,
the limit did not count. (The library automaxprocs rounds down, and never goes below 1.)
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Verdict = Literal["fits", "too-large", "too-small", "unknown"]
Chosen = Literal["environment", "program", "runtime", "unknown"]

COMPUTING = frozenset({"gomaxprocs", "processors", "carriers", "fork-join", "tokio", "rayon"})
"""Kinds of pools whose workers compute, so that there should be one for each core."""
COMMON = ("ForkJoinPool.commonPool", "commonPool", "common")
"""What the common pool of Java is called."""
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
"""By kind: a variable, its value, and whether that is an argument of the program as well."""
FOLLOWS_LIMITS = (1, 25)
MIN_BY_LIMIT = 2
_VERSION = re.compile(r"go(\d+)\.(\d+)")


@dataclass(frozen=True, slots=True)
class GoSetting:
    """How a Go program is set.

    Attributes:
        gomaxprocs: in effect; None: not known.
        version: such as go1.26.8; None: not known.
        chosen: who chose the value.
        ignores_limits: GODEBUG says containermaxprocs=0.
    """

    gomaxprocs: int | None
    version: str | None
    chosen: Chosen
    ignores_limits: bool = False


@dataclass(frozen=True, slots=True)
class PoolSetting:
    """How a pool is set.

    Attributes:
        name: of it.
        kind: such as gomaxprocs, carriers or threads.
        size: workers that it may have; None: not known.
        chosen: who chose the size.
        reason: why it is what it is, a sentence.
        least: a limit below that is no reason for a smaller one.
        fewer: so many less than there are cores is as it should be.
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
    """What is found.

    Attributes:
        verdict: whether it fits.
        why: one or two sentences.
        size: what would fit; None: it does, or is not known.
    """

    verdict: Verdict
    why: str
    size: int | None


def judge(setting: GoSetting, cpus: int, limit_cores: float | None) -> Judgement:
    """Hold GOMAXPROCS against what the program may use; see `judge_pool`."""
    return judge_pool(of_go(setting), cpus, limit_cores)


def of_go(setting: GoSetting) -> PoolSetting:
    """GOMAXPROCS as a pool; the runtime never goes below 2 for a limit, and that is no mistake."""
    return PoolSetting(
        "GOMAXPROCS",
        "gomaxprocs",
        setting.gomaxprocs,
        setting.chosen,
        _reason(setting),
        least=MIN_BY_LIMIT,
    )


def judge_pool(setting: PoolSetting, cpus: int, limit_cores: float | None) -> Judgement:
    """Hold the size of a pool against what its program may use.

    Args:
        setting: how it is set.
        cpus: of the program's affinity.
        limit_cores: the tightest limit of its control groups; None: there is none.
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
    """The smallest size that can use all of it."""
    if limit_cores is None:
        return cpus
    return min(cpus, max(least, math.ceil(limit_cores - 1e-9)))


def change(size: int, setting: PoolSetting, unit: str | None, container: str | None) -> str:
    """The line that sets it.

    Args:
        size: what would fit.
        setting: how it is set now.
        unit: systemd unit of the program; None: none.
        container: what runs its container, such as kubernetes; None: none.
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
    """Whether the runtime heeds CPU limits by itself; None: its version is not known."""
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
    """Cores that can be used all of the time: a part of one is no reason for one more thread."""
    return cpus if limit_cores is None else min(cpus, max(1, math.floor(limit_cores)))


def _cpus(count: int) -> str:
    return "CPU" if count == 1 else "CPUs"
