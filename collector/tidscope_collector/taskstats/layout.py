"""Offsets of the members of struct taskstats, by version.

Source: include/uapi/linux/taskstats.h of Linux 2.6.33 (v8) to 6.16 (v16). The struct only grew at
its end, but for v15, which put a maximum and a minimum behind each delay in the middle; v16 moved
them to the end. Both have 560 bytes, so a layout is chosen by version and length together.

A kernel may append members of its own without being of a later version. It is believed only if it
tells the name of what it appends, its profile (see `profile.py`); then profile, version and length
together choose.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

COMM_BYTES = 32
_SIZES = {"u8": 1, "u16": 2, "u32": 4, "u64": 8, "comm": COMM_BYTES}

_V8: tuple[tuple[str, str], ...] = (
    *(("version", "u16"), ("ac_exitcode", "u32"), ("ac_flag", "u8"), ("ac_nice", "u8")),
    *(("cpu_count", "u64"), ("cpu_delay_total", "u64")),
    *(("blkio_count", "u64"), ("blkio_delay_total", "u64")),
    *(("swapin_count", "u64"), ("swapin_delay_total", "u64")),
    *(("cpu_run_real_total", "u64"), ("cpu_run_virtual_total", "u64")),
    *(("ac_comm", "comm"), ("ac_sched", "u64"), ("ac_uid", "u32"), ("ac_gid", "u32")),
    *(("ac_pid", "u32"), ("ac_ppid", "u32"), ("ac_btime", "u32"), ("ac_etime", "u64")),
    *(("ac_utime", "u64"), ("ac_stime", "u64"), ("ac_minflt", "u64"), ("ac_majflt", "u64")),
    *(("coremem", "u64"), ("virtmem", "u64"), ("hiwater_rss", "u64"), ("hiwater_vm", "u64")),
    *(("read_char", "u64"), ("write_char", "u64")),
    *(("read_syscalls", "u64"), ("write_syscalls", "u64")),
    *(("read_bytes", "u64"), ("write_bytes", "u64"), ("cancelled_write_bytes", "u64")),
    *(("nvcsw", "u64"), ("nivcsw", "u64"), ("ac_utimescaled", "u64"), ("ac_stimescaled", "u64")),
    ("cpu_scaled_run_real_total", "u64"),
    *(("freepages_count", "u64"), ("freepages_delay_total", "u64")),
)
# ac_sched is one byte with seven of padding: only what stands behind it matters here.
_APPENDED: Mapping[int, tuple[tuple[str, str], ...]] = {
    9: (("thrashing_count", "u64"), ("thrashing_delay_total", "u64")),
    10: (("ac_btime64", "u64"),),
    11: (("compact_count", "u64"), ("compact_delay_total", "u64")),
    12: (
        *(("ac_tgid", "u32"), ("ac_tgetime", "u64")),
        *(("ac_exe_dev", "u64"), ("ac_exe_inode", "u64")),
    ),
    13: (("wpcopy_count", "u64"), ("wpcopy_delay_total", "u64")),
    14: (("irq_count", "u64"), ("irq_delay_total", "u64")),
}
_DELAYS = ("cpu", "blkio", "swapin", "freepages", "thrashing", "compact", "wpcopy", "irq")
_PROFILES: Mapping[str, tuple[tuple[str, str], ...]] = {
    "netext": (
        *(("read_net_bytes", "u64"), ("write_net_bytes", "u64")),
        *(("read_net_syscalls", "u64"), ("write_net_syscalls", "u64")),
    ),
}
STOCK = ""
"""The profile of a kernel that appends nothing."""
_LENGTHS = {8: 328, 9: 344, 10: 352, 11: 368, 12: 400, 13: 416, 14: 432, 15: 560, 16: 560}


class UnknownLayoutError(Exception):
    """The kernel's struct taskstats is not one that we know."""


@dataclass(frozen=True)
class Layout:
    """Offsets in bytes of the members of one version of struct taskstats."""

    name: str
    version: int
    length: int
    offsets: Mapping[str, int]
    profile: str = STOCK


def _members(version: int) -> list[tuple[str, str]]:
    members = list(_V8)
    for since, more in _APPENDED.items():
        if since <= version:
            members += more
    if version == 16:
        for delay in _DELAYS:
            members += [(f"{delay}_delay_max", "u64"), (f"{delay}_delay_min", "u64")]
    if version == 15:
        wide: list[tuple[str, str]] = []
        for name, kind in members:
            wide.append((name, kind))
            if name.endswith("_delay_total"):
                stem = name.removesuffix("_total")
                wide += [(f"{stem}_max", "u64"), (f"{stem}_min", "u64")]
        members = wide
    return members


def _layout(version: int, profile: str = STOCK) -> Layout:
    offsets: dict[str, int] = {}
    at = 0
    for name, kind in [*_members(version), *_PROFILES.get(profile, ())]:
        # ac_uid is declared with an alignment of 8; everything else aligns to its own size.
        align = 8 if kind == "comm" or name == "ac_uid" else _SIZES[kind]
        at = -(-at // align) * align
        offsets[name] = at
        at += _SIZES[kind]
    name = f"v{version}+{profile}" if profile else f"v{version}"
    return Layout(name, version, -(-at // 8) * 8, MappingProxyType(offsets), profile)


LAYOUTS: Mapping[tuple[int, int], Layout] = MappingProxyType(
    {(version, length): _layout(version) for version, length in _LENGTHS.items()}
)
"""Known layouts of stock kernels by version and length in bytes."""

EXTENDED: Mapping[tuple[str, int, int], Layout] = MappingProxyType(
    {("netext", 13, 448): _layout(13, "netext")}
)
"""Known layouts of kernels that append members, by profile, version and length in bytes."""


def choose(version: int, length: int, profile: str = STOCK) -> Layout:
    """Choose the layout of a kernel.

    Args:
        version: as the struct tells it.
        length: of the struct, bytes.
        profile: what the kernel says it appends.

    Raises:
        UnknownLayoutError: this version with this length is not known in this profile.
    """
    if profile == STOCK:
        layout = LAYOUTS.get((version, length))
        known = [f"v{v} ({n})" for v, n in LAYOUTS]
    else:
        layout = EXTENDED.get((profile, version, length))
        known = [f"{p}: v{v} ({n})" for p, v, n in EXTENDED]
    if layout is None:
        within = f" in profile {profile!r}" if profile else ""
        raise UnknownLayoutError(
            f"struct taskstats version {version} with {length} bytes{within} is unknown to "
            f"tidscope; known: {', '.join(known)}"
        )
    return layout
