"""The genetlink family and a probe of what this kernel answers."""

import errno
import os
import socket
import struct
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass

from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.taskstats.family_cache import FamilyCache
from tidscope_collector.taskstats.layout import Layout, UnknownLayoutError, choose
from tidscope_collector.taskstats.messages import (
    ATTR_PID,
    TYPE_AGGR_PID,
    command,
    error_code,
    parse,
)
from tidscope_collector.taskstats.profile import kernel_profile
from tidscope_collector.taskstats.refusals import MalformedReplyError, Refusal

SO_RCVBUFFORCE = 33
NETLINK_GENERIC = 16
REQUEST_BUFFER_BYTES = 8 * 1024 * 1024


class TaskstatsUnavailableError(Exception):
    """This process cannot use taskstats here; the text says why and what would change that."""


class UnknownStructError(TaskstatsUnavailableError):
    """The kernel answers with a struct taskstats that this tidscope does not know.

    Attributes:
        version: of the struct.
        length: in bytes.
    """

    def __init__(self, message: str, version: int, length: int) -> None:
        super().__init__(message)
        self.version = version
        self.length = length


@dataclass(frozen=True)
class Kernel:
    """Format of this kernel's taskstats.

    Attributes:
        family: number of the generic netlink family.
        layout: layout of struct taskstats.
        payload: offset of struct taskstats in a reply to a GET, bytes.
    """

    family: int
    layout: Layout
    payload: int


def resolve_family() -> int:
    """Ask the kernel for the number of the family TASKSTATS.

    Raises:
        TaskstatsUnavailableError: the kernel has no taskstats.
    """
    # Loaded here: it takes 0.1 s of CPU.
    from pyroute2.netlink import genlmsg
    from pyroute2.netlink.exceptions import NetlinkError
    from pyroute2.netlink.generic import GenericNetlinkSocket

    try:
        with GenericNetlinkSocket() as link:
            link.bind("TASKSTATS", genlmsg)
            return int(link.prid)
    except (NetlinkError, OSError) as error:
        raise TaskstatsUnavailableError(
            "this kernel has no taskstats (it was built without CONFIG_TASKSTATS): "
            f"{error}; threads are read from /proc"
        ) from error


def open_socket(buffer_bytes: int) -> socket.socket:
    """A generic netlink socket with a receive buffer of this many bytes, as far as allowed."""
    link = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_GENERIC)
    try:
        link.bind((0, 0))
        try:
            link.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, buffer_bytes)
        except PermissionError:
            link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer_bytes)
    except OSError:
        link.close()
        raise
    return link


def probe(procfs: ProcFs | None = None, cache: FamilyCache | None = None) -> Kernel:
    """Ask for our own thread and learn the layout from the answer.

    The layout is believed only if our own thread id stands where it says; so is a cached number of
    the family. One that is wrong is resolved again.

    Args:
        procfs: root of /proc, where an extended kernel tells its profile.
        cache: of the family's number.

    Raises:
        TaskstatsUnavailableError: no taskstats, no right to use it, or an unknown layout.
    """
    procfs = procfs or ProcFs()
    cache = cache or FamilyCache(procfs)
    cached = cache.read()
    if cached is not None:
        with suppress(TaskstatsUnavailableError):
            return _probe_family(cached, procfs)
    family = resolve_family()
    kernel = _probe_family(family, procfs)
    cache.write(family)
    return kernel


def _probe_family(family: int, procfs: ProcFs) -> Kernel:
    """Ask the family of this number; believe what `probe` believes. Raises as that."""
    thread = threading.get_native_id()
    with open_socket(64 * 1024) as link:
        link.settimeout(2)
        try:
            link.send(command(family, ATTR_PID, struct.pack("=I", thread), 1))
            reply, sender = link.recvfrom(64 * 1024)
            while sender[0]:  # a port of another process; the kernel's is 0
                reply, sender = link.recvfrom(64 * 1024)
        except OSError as error:
            raise TaskstatsUnavailableError(f"taskstats did not answer: {error}") from error
    return read_reply(reply, family, thread, kernel_profile(procfs))


def read_reply(reply: bytes, family: int, thread: int, profile: str) -> Kernel:
    """Learn the layout from the answer to a question for a thread. Raises as `probe`."""
    code = error_code(reply)
    if code == errno.EPERM:
        raise TaskstatsUnavailableError(
            "taskstats needs CAP_NET_ADMIN, which this process lacks; threads are read from /proc"
        )
    if code is not None:
        raise TaskstatsUnavailableError(f"taskstats answered: {os.strerror(code)}")
    try:
        records = parse(reply, family)
        if [record.kind for record in records] != [TYPE_AGGR_PID]:
            raise MalformedReplyError(Refusal.CONTENT, "not one record of a thread")
    except MalformedReplyError as error:
        raise TaskstatsUnavailableError(f"{error}; threads are read from /proc") from error
    (record,) = records
    version = int.from_bytes(reply[record.offset : record.offset + 2], sys.byteorder)
    try:
        layout = choose(version, record.length, profile)
    except UnknownLayoutError as error:
        message = f"{error}; threads are read from /proc"
        raise UnknownStructError(message, version, record.length) from error
    (reported,) = struct.unpack_from("=I", reply, record.offset + layout.offsets["ac_pid"])
    if (record.id, reported) != (thread, thread):
        raise TaskstatsUnavailableError(
            f"an answer about thread {record.id} with a struct taskstats {layout.name} of thread "
            f"{reported}, where {thread} was asked for; threads are read from /proc"
        )
    return Kernel(family, layout, record.offset)


def granted_buffer(wanted: int) -> int:
    """The receive buffer that a socket gets when it asks for `wanted` bytes."""
    with open_socket(wanted) as link:
        # The kernel tells twice what was asked for: its own bookkeeping is in it.
        return link.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF) // 2
