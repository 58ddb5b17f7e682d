"""Landlock: limits the files and TCP ports that this thread and all later threads may use.

A confined process may not inspect processes outside its domain: Landlock checks ptrace(2) access
whatever the capabilities. From ABI 6 on it may not signal outside processes either.
Source: landlock(7), linux/landlock.h.
"""

import ctypes
import os
import struct
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same on all architectures
_CREATE_RULESET_VERSION = 1
_RULE_PATH_BENEATH, _RULE_NET_PORT = 1, 2
_RESTRICT_SELF_LOG_SAME_EXEC_OFF = 1

_EXECUTE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 2, 1 << 3
_WRITE_FILE, _TRUNCATE = 1 << 1, 1 << 14
_REMOVE_DIR, _REMOVE_FILE, _MAKE_DIR, _MAKE_REG, _REFER = 1 << 4, 1 << 5, 1 << 7, 1 << 8, 1 << 13
_CHANGE = _WRITE_FILE | _TRUNCATE | _REMOVE_FILE | _MAKE_DIR | _MAKE_REG
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | 1 << 15
_BIND_TCP, _CONNECT_TCP = 1 << 0, 1 << 1
_SCOPE_ABSTRACT_SOCKETS, _SCOPE_SIGNALS = 1 << 0, 1 << 1

# File rights that each ABI added: 13 at first, then renaming across folders, truncating, and
# ioctl(2) of devices.
_FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 5: 16}

_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True, slots=True)
class Paths:
    """Paths that may be opened; missing ones are ignored.

    Attributes:
        read: files, and folders with all below, to read.
        write: folders in which files may be made, changed, renamed and removed too.
        own: like `write`, and folders may be removed and files moved between them.
        connect_ports: TCP ports that may be connected to; None for all.
        execute: programs, and the loaders of their libraries, that may be read and executed.
    """

    read: tuple[Path, ...]
    write: tuple[Path, ...] = ()
    own: tuple[Path, ...] = ()
    connect_ports: tuple[int, ...] | None = None
    execute: tuple[Path, ...] = ()


def abi() -> int:
    """Landlock version of this kernel, or 0 without Landlock."""
    version: int = _libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _CREATE_RULESET_VERSION)
    return max(0, version)


def restrict(paths: Paths) -> None:
    """Restrict this thread irrevocably; needs no_new_privs.

    Raises:
        OSError: there is no Landlock, or the kernel refused.
    """
    version = abi()
    files = (1 << _by_abi(version, _FILE_RIGHTS)) - 1
    network = 0
    if version >= 4:
        network = _BIND_TCP | (0 if paths.connect_ports is None else _CONNECT_TCP)
    scopes = _SCOPE_ABSTRACT_SOCKETS | _SCOPE_SIGNALS if version >= 6 else 0
    attributes = struct.pack("=3Q", files, network, scopes)
    # An older kernel accepts a longer struct if the unknown members are zero.
    ruleset = _call(_CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), 0)
    try:
        read = _READ_FILE | _READ_DIR
        _allow(ruleset, paths.read, files & read)
        _allow(ruleset, paths.execute, files & (read | _EXECUTE))
        _allow(ruleset, paths.write, files & (read | _CHANGE))
        _allow(ruleset, paths.own, files & (read | _CHANGE | _REMOVE_DIR | _REFER))
        if network & _CONNECT_TCP:
            for port in paths.connect_ports or ():
                _call(
                    _ADD_RULE,
                    ruleset,
                    _RULE_NET_PORT,
                    struct.pack("=2Q", _CONNECT_TCP, port),
                    0,
                )
        # Refusals are expected (a file is tried, then requested): keep them out of the kernel log.
        flags = _RESTRICT_SELF_LOG_SAME_EXEC_OFF if version >= 7 else 0
        _call(_RESTRICT_SELF, ruleset, flags)
    finally:
        os.close(ruleset)


def _by_abi(version: int, values: dict[int, int]) -> int:
    return max((value for since, value in values.items() if since <= version), default=0)


def _allow(ruleset: int, paths: Iterable[Path], rights: int) -> None:
    for path in _existing(paths):
        allowed = rights if path.is_dir() else rights & _OF_FILES
        file = os.open(path, os.O_PATH | os.O_CLOEXEC)
        try:
            _call(_ADD_RULE, ruleset, _RULE_PATH_BENEATH, struct.pack("=Qi", allowed, file), 0)
        finally:
            os.close(file)


def _existing(paths: Iterable[Path]) -> Collection[Path]:
    return {path for path in paths if path.exists()}


def _call(number: int, *arguments: object) -> int:
    result: int = _libc.syscall(number, *arguments)
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"Landlock: {os.strerror(code)}")
    return result
