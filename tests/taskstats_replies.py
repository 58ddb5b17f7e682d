"""Hand-made messages of the kernel's taskstats, of every version: right, wrong and forged ones.

Nothing here uses the collector: the structs are written down after the headers of each
version (include/uapi/linux/taskstats.h), the messages after kernel/taskstats.c.
"""

import ctypes
import errno
import struct
import zlib
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Literal

FAMILY = 25
VERSIONS = range(8, 17)
LENGTHS = {8: 328, 9: 344, 10: 352, 11: 368, 12: 400, 13: 416, 14: 432, 15: 560, 16: 560}
NLMSG_ERROR, NLMSG_OVERRUN = 2, 4
PID, TGID, STATS, AGGR_PID, AGGR_TGID, NULL = 1, 2, 3, 4, 5, 6

Pad = Literal["none", "before", "inside"]
"""Place of the NULL attribute: none, before the record, or before the struct."""
PADS: tuple[Pad, ...] = ("none", "before", "inside")


def _u64(*names: str) -> list[tuple[str, type]]:
    return [(name, ctypes.c_uint64) for name in names]


def _delay(name: str, version: int) -> list[tuple[str, type]]:
    extremes = [f"{name}_delay_max", f"{name}_delay_min"] if version == 15 else []
    return _u64(f"{name}_count", f"{name}_delay_total", *extremes)


@cache
def struct_of(version: int) -> type[ctypes.Structure]:
    """struct taskstats of a version."""
    u32, u8 = ctypes.c_uint32, ctypes.c_uint8
    members: list[tuple[str, type]] = [
        *(("version", ctypes.c_uint16), ("ac_exitcode", u32), ("ac_flag", u8), ("ac_nice", u8)),
        *(*_delay("cpu", version), *_delay("blkio", version), *_delay("swapin", version)),
        *_u64("cpu_run_real_total", "cpu_run_virtual_total"),
        *(("ac_comm", ctypes.c_uint8 * 32), ("ac_sched", u8), ("_pad", u8 * 7)),
        *(("ac_uid", u32), ("ac_gid", u32), ("ac_pid", u32), ("ac_ppid", u32), ("ac_btime", u32)),
        *_u64("ac_etime", "ac_utime", "ac_stime", "ac_minflt", "ac_majflt"),
        *_u64("coremem", "virtmem", "hiwater_rss", "hiwater_vm", "read_char", "write_char"),
        *_u64("read_syscalls", "write_syscalls", "read_bytes", "write_bytes"),
        *_u64("cancelled_write_bytes", "nvcsw", "nivcsw", "ac_utimescaled", "ac_stimescaled"),
        *(*_u64("cpu_scaled_run_real_total"), *_delay("freepages", version)),
    ]
    if version >= 9:
        members += _delay("thrashing", version)
    if version >= 10:
        members += _u64("ac_btime64")
    if version >= 11:
        members += _delay("compact", version)
    if version >= 12:
        members += [("ac_tgid", u32), *_u64("ac_tgetime", "ac_exe_dev", "ac_exe_inode")]
    if version >= 13:
        members += _delay("wpcopy", version)
    if version >= 14:
        members += _delay("irq", version)
    if version >= 16:
        delays = ["cpu", "blkio", "swapin", "freepages", "thrashing", "compact", "wpcopy", "irq"]
        members += _u64(*(f"{name}_delay_{end}" for name in delays for end in ("max", "min")))
    return type(f"taskstats_v{version}", (ctypes.Structure,), {"_fields_": members})


def value_of(member: str, tid: int) -> int:
    """Default of a 64-bit member: different for each, above 2^32."""
    return (zlib.crc32(member.encode()) << 20) + tid


def stats(
    version: int,
    tid: int,
    *,
    tgid: int = 100,
    comm: bytes = b"worker",
    reported_version: int | None = None,
    members: Mapping[str, int] | None = None,
) -> bytes:
    """A struct taskstats in which every member of 64 bits has its own value."""
    kind = struct_of(version)
    values = {
        name: value_of(name, tid) for name, type_, *_ in kind._fields_ if type_ is ctypes.c_uint64
    }
    values |= {"version": reported_version or version, "ac_pid": tid, "ac_etime": 5_000_000}
    if version >= 12:
        values["ac_tgid"] = tgid
    filled = kind(**(values | dict(members or {})))
    filled.ac_comm[: len(comm)] = comm
    return bytes(filled)


def attribute(kind: int, payload: bytes, *, length: int | None = None) -> bytes:
    """An attribute, padded to 4; `length` is a lie."""
    reported = 4 + len(payload) if length is None else length
    return struct.pack("=HH", reported, kind) + payload + bytes(-len(payload) % 4)


def message(
    body: bytes,
    *,
    sequence: int = 1,
    type_: int = FAMILY,
    port: int = 0,
    command: int = 2,
    length: int | None = None,
) -> bytes:
    """A generic netlink message; `length` is a lie."""
    reported = 20 + len(body) if length is None else length
    header = struct.pack("=IHHII", reported, type_, 0, sequence, port)
    return header + struct.pack("=BBH", command, 1, 0) + body


def record(
    aggregate: int, number: int, payload: bytes, *, pad: Pad = "none", at: int = 20
) -> bytes:
    """An AGGR attribute, as mk_reply makes it.

    Args:
        aggregate: AGGR_PID or AGGR_TGID.
        number: thread id or process id.
        payload: the struct.
        pad: "inside" puts a pad only where the struct would not stand at a multiple of 8.
        at: where the record starts in its message.
    """
    identity = attribute(PID if aggregate == AGGR_PID else TGID, struct.pack("=I", number))
    inner = attribute(NULL, b"") if pad == "inside" and (at + 4 + len(identity)) % 8 == 0 else b""
    whole = attribute(aggregate, identity + inner + attribute(STATS, payload))
    return attribute(NULL, b"") + whole if pad == "before" else whole


def reply(tid: int, payload: bytes, *, sequence: int, pad: Pad = "none", port: int = 4711) -> bytes:
    """The answer to a GET for a thread."""
    return message(record(AGGR_PID, tid, payload, pad=pad), sequence=sequence, port=port)


def exit_record(
    tid: int,
    payload: bytes,
    *,
    sequence: int,
    pad: Pad = "none",
    process: tuple[int, bytes] | None = None,
) -> bytes:
    """Message of the kernel at a thread's exit; with `process` if it was the last thread."""
    body = record(AGGR_PID, tid, payload, pad=pad)
    if process is not None:
        body += record(AGGR_TGID, process[0], process[1], pad=pad, at=20 + len(body))
    return message(body, sequence=sequence)


def error(sequence: int, number: int, request: bytes = bytes(28)) -> bytes:
    """NLMSG_ERROR with a negative errno, 0 for an acknowledgement, and the request behind it."""
    body = struct.pack("=i", -number) + request
    return struct.pack("=IHHII", 16 + len(body), NLMSG_ERROR, 0, sequence, 4711) + body


def payload_offset(pad: Pad) -> int:
    """Offset of the struct in a reply."""
    return 36 if pad == "none" else 40


def hostile(version: int, tid: int, sequence: int) -> Iterable[tuple[str, str, bytes]]:
    """Messages in place of the right one: what is done, the refusal's name, the datagram."""
    body = stats(version, tid)
    right = reply(tid, body, sequence=sequence)
    yield (
        "an attribute too long by one",
        "ATTRIBUTE",
        _patched(right, 20, "=H", len(right) - 20 + 1),
    )
    for at, name in ((20, "record"), (24, "id"), (32, "struct")):
        for length in (0, 3, 65535):
            reported = _patched(right, at, "=H", length)
            yield f"the length of the {name} is {length}", "ATTRIBUTE", reported
    yield (
        "the id has 3 bytes",
        "CONTENT",
        message(
            attribute(AGGR_PID, attribute(PID, b"abc") + attribute(STATS, body)), sequence=sequence
        ),
    )
    yield (
        "no struct",
        "CONTENT",
        message(attribute(AGGR_PID, attribute(PID, struct.pack("=I", tid))), sequence=sequence),
    )
    yield (
        "no id",
        "CONTENT",
        message(attribute(AGGR_PID, attribute(STATS, body)), sequence=sequence),
    )
    twice = attribute(PID, struct.pack("=I", tid)) * 2 + attribute(STATS, body)
    yield "two ids", "CONTENT", message(attribute(AGGR_PID, twice), sequence=sequence)
    yield "no attribute", "CONTENT", message(b"", sequence=sequence)
    yield "only a pad", "CONTENT", message(attribute(NULL, b""), sequence=sequence)
    yield "two records", "CONTENT", message(record(AGGR_PID, tid, body) * 2, sequence=sequence)
    process = message(record(AGGR_TGID, tid, body), sequence=sequence)
    yield "the record of a process", "CONTENT", process
    yield (
        "stray bytes",
        "ATTRIBUTE",
        message(record(AGGR_PID, tid, body) + b"\1\2", sequence=sequence),
    )
    padded = message(record(AGGR_PID, tid, body) + bytes(8), sequence=sequence)
    yield "padding that is counted", "ATTRIBUTE", padded
    yield "padding that is not counted", "LENGTH", right + bytes(8)
    yield "two messages in one datagram", "LENGTH", right * 2
    yield "a length of 0", "LENGTH", _patched(right, 0, "=I", 0)
    yield "a length beyond the end", "LENGTH", _patched(right, 0, "=I", 0xFFFFFFFF)
    yield "another family", "TYPE", _patched(right, 4, "=H", FAMILY + 1)
    yield "NLMSG_NOOP", "TYPE", _patched(right, 4, "=H", 1)
    yield "NLMSG_DONE", "TYPE", _patched(right, 4, "=H", 3)
    yield "NLMSG_OVERRUN", "OVERRUN", _patched(right, 4, "=H", NLMSG_OVERRUN)
    yield "an acknowledgement", "TYPE", error(sequence, 0)
    yield "an error below 0", "TYPE", error(sequence, -errno.ESRCH)
    yield "an error out of range", "TYPE", error(sequence, 2**31)
    yield "an error cut off", "TYPE", error(sequence, errno.ESRCH)[:19]
    yield "another command", "COMMAND", _patched(right, 16, "=B", 1)
    yield "nothing", "SHORT", b"\0"
    yield "only a header", "SHORT", struct.pack("=IHHII", 16, FAMILY, 0, sequence, 0)
    other = 15 if version == 16 else 16
    yield (
        "another version",
        "LAYOUT",
        reply(tid, stats(version, tid, reported_version=other), sequence=sequence),
    )
    yield "version 0", "LAYOUT", _patched(right, 36, "=H", 0)
    yield "a struct longer by 8", "LAYOUT", reply(tid, body + bytes(8), sequence=sequence)
    yield "a struct shorter by 8", "LAYOUT", reply(tid, body[:-8], sequence=sequence)
    yield "an empty struct", "LAYOUT", reply(tid, b"", sequence=sequence)
    yield (
        "another thread in the struct",
        "IDENTITY",
        reply(tid, stats(version, tid + 1), sequence=sequence),
    )
    yield "another thread in the attribute", "IDENTITY", reply(tid + 1, body, sequence=sequence)


def _patched(datagram: bytes, at: int, form: str, value: int) -> bytes:
    patched = bytearray(datagram)
    struct.pack_into(form, patched, at, value)
    return bytes(patched)
