"""Active processors of a Java virtual machine, computed by its own rules. Pure.

Sources: OpenJDK's src/hotspot/os/linux/cgroupSubsystem_linux.cpp (CgroupSubsystem::
active_processor_count) and os_linux.cpp; JDK-8146115 (limits of containers, JDK 10 and 8u191),
JDK-8281181 (CPU shares do not count, JDK 19, 18.0.2, 17.0.5 and 11.0.17).
"""

import math
import re
from collections.abc import Sequence

from tidscope_collector.sizing.allowance import SHARES_A_CORE
from tidscope_collector.sizing.judgement import Chosen, PoolSetting

DEFAULT_WEIGHT = 100
NAME = "Active processors"
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
    return PoolSetting(NAME, "processors", size, chosen, reason)


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
