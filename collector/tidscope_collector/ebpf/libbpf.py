"""The part of libbpf that is needed here, through ctypes: open an object, load, attach, look up.

The library is a part of this package, and contains libelf and zlib: `tools/build-libbpf` makes it.
Source: bpf/libbpf.h, bpf/bpf.h, bpf/btf.h of libbpf 1.7.
"""

import ctypes
import errno
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

FILE = Path(__file__).with_name("libbpf.so.1")
BTF_KIND_FUNC = 12
BTF_KIND_TYPEDEF = 8
_WARN = 0
_LINE_BYTES = 512
_pointer, _int, _text = ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p
_PRINT = ctypes.CFUNCTYPE(_int, _int, _pointer, _pointer)
_SIGNATURES: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "libbpf_set_print": (_pointer, (_PRINT,)),
    "bpf_object__open_mem": (_pointer, (_pointer, ctypes.c_size_t, _pointer)),
    "bpf_object__load": (_int, (_pointer,)),
    "bpf_object__close": (None, (_pointer,)),
    "bpf_object__find_map_fd_by_name": (_int, (_pointer, _text)),
    "bpf_object__find_program_by_name": (_pointer, (_pointer, _text)),
    "bpf_program__set_autoload": (_int, (_pointer, ctypes.c_bool)),
    "bpf_object__find_map_by_name": (_pointer, (_pointer, _text)),
    "bpf_map__set_max_entries": (_int, (_pointer, ctypes.c_uint32)),
    "bpf_map__reuse_fd": (_int, (_pointer, _int)),
    "bpf_map__set_initial_value": (_int, (_pointer, _text, ctypes.c_size_t)),
    "bpf_program__attach": (_pointer, (_pointer,)),
    "bpf_program__attach_iter": (_pointer, (_pointer, _pointer)),
    "bpf_program__fd": (_int, (_pointer,)),
    "bpf_prog_test_run_opts": (_int, (_int, _pointer)),
    "bpf_link__fd": (_int, (_pointer,)),
    "bpf_link__destroy": (_int, (_pointer,)),
    "bpf_iter_create": (_int, (_int,)),
    "bpf_map_update_elem": (_int, (_int, _pointer, _pointer, ctypes.c_uint64)),
    "bpf_map_lookup_elem": (_int, (_int, _pointer, _pointer)),
    "bpf_map_delete_elem": (_int, (_int, _pointer)),
    "bpf_map_lookup_batch": (_int, (_int, *(_pointer,) * 6)),
    "bpf_map_delete_batch": (_int, (_int, *(_pointer,) * 3)),
    "btf__load_vmlinux_btf": (_pointer, ()),
    "btf__find_by_name_kind": (ctypes.c_int32, (_pointer, _text, ctypes.c_uint32)),
    "btf__type_by_id": (_pointer, (_pointer, ctypes.c_uint32)),
    "btf__free": (None, (_pointer,)),
}


class BpfError(Exception):
    """libbpf or the kernel refused; the text says what.

    Attributes:
        errno: the error's number; 0 if there is no library.
    """

    def __init__(self, text: str, number: int) -> None:
        super().__init__(text)
        self.errno = number


class _Library:
    """The loaded library, and the warnings that it printed last."""

    def __init__(self, library: ctypes.CDLL, libc: ctypes.CDLL) -> None:
        self._functions: dict[str, Callable[..., Any]] = {}
        for name, (result, arguments) in _SIGNATURES.items():
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
            self._functions[name] = function
        self.warnings: list[str] = []
        self._format = libc.vsnprintf
        self._format.restype = _int
        self._format.argtypes = (_pointer, ctypes.c_size_t, _pointer, _pointer)
        self._print = _PRINT(self._take)  # libbpf keeps the pointer: so do we
        self.call("libbpf_set_print", self._print)

    def _take(self, level: int, text: int | None, arguments: int | None) -> int:
        if level == _WARN:
            line = ctypes.create_string_buffer(_LINE_BYTES)
            self._format(line, _LINE_BYTES, text, arguments)
            self.warnings.append(line.value.decode("utf-8", "replace").strip())
        return 0

    def call(self, name: str, *arguments: Any) -> Any:
        return self._functions[name](*arguments)

    def number(self, what: str, name: str, *arguments: Any) -> int:
        """Call what returns a number, negative for an error.

        Raises:
            BpfError: it was negative.
        """
        self.warnings.clear()
        result = int(self.call(name, *arguments))
        if result < 0:
            raise BpfError(f"{what}: {os.strerror(-result)}", -result)
        return result

    def pointer(self, what: str, name: str, *arguments: Any) -> int:
        """Call what returns a pointer.

        Raises:
            BpfError: it is none.
        """
        self.warnings.clear()
        ctypes.set_errno(0)
        result: int | None = self.call(name, *arguments)
        if result is None:
            code = ctypes.get_errno() or errno.ENOENT
            raise BpfError(f"{what}: {os.strerror(code)}", code)
        return result


@cache
def library() -> _Library:
    """Load the library.

    Raises:
        BpfError: it is missing, or for another system.
    """
    try:
        return _Library(ctypes.CDLL(str(FILE), use_errno=True), ctypes.CDLL(None))
    except OSError as error:
        raise BpfError(f"libbpf cannot be loaded: {error}", 0) from error


class _IterOptions(ctypes.Structure):
    """struct bpf_iter_attach_opts."""

    _fields_ = (
        ("size", ctypes.c_size_t),
        ("link_info", _pointer),
        ("link_info_bytes", ctypes.c_uint32),
    )


class _TasksOf(ctypes.Structure):
    """union bpf_iter_link_info, its member task."""

    _fields_ = (
        ("tid", ctypes.c_uint32),
        ("pid", ctypes.c_uint32),
        ("pid_fd", ctypes.c_uint32),
        ("spare", ctypes.c_uint32),
    )


class IteratorLink:
    """An iterator over the threads of one process.

    Args:
        link: pointer to struct bpf_link.
    """

    def __init__(self, link: int) -> None:
        self._link = link

    @property
    def descriptor(self) -> int:
        """Descriptor of the link; it is closed with the link."""
        return int(library().call("bpf_link__fd", self._link))

    def open(self) -> int:
        """Begin a walk.

        Returns:
            A descriptor to read from; the caller closes it.

        Raises:
            BpfError: the kernel refused.
        """
        return library().number("iterator", "bpf_iter_create", self.descriptor)

    def close(self) -> None:
        """Take it out of the kernel; twice does no harm."""
        if self._link:
            library().call("bpf_link__destroy", self._link)
            self._link = 0


class _RunOptions(ctypes.Structure):
    """struct bpf_test_run_opts."""

    _fields_ = (
        ("size", ctypes.c_size_t),
        ("data_in", _pointer),
        ("data_out", _pointer),
        ("data_in_bytes", ctypes.c_uint32),
        ("data_out_bytes", ctypes.c_uint32),
        ("context_in", _pointer),
        ("context_out", _pointer),
        ("context_in_bytes", ctypes.c_uint32),
        ("context_out_bytes", ctypes.c_uint32),
        *((name, ctypes.c_uint32) for name in ("result", "repeat", "took_ns", "flags", "cpu")),
        ("batch", ctypes.c_uint32),
    )


class RunnableProgram:
    """A program that runs when it is called.

    Args:
        descriptor: of the program; it is closed with its object.
    """

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor

    def run(self, context: npt.NDArray[np.void]) -> None:
        """Run it once.

        Args:
            context: its argument.

        Raises:
            BpfError: the kernel refused.
        """
        options = _RunOptions(
            size=ctypes.sizeof(_RunOptions),
            context_in=context.ctypes.data,
            context_in_bytes=context.nbytes,
        )
        library().number(
            "running", "bpf_prog_test_run_opts", self.descriptor, ctypes.byref(options)
        )


class Program:
    """A compiled object, loaded into the kernel.

    Args:
        image: the object file's content.
        leave_out: names of programs that are not loaded.
        constants: the object's section of constants, if it is to be another one.
        entries: how many some maps have, by their names, if not as many as in the object.
        lent: descriptors of maps of other objects that stand for maps of this one, by their names.

    Raises:
        BpfError: it cannot be loaded.
    """

    def __init__(
        self,
        image: bytes,
        leave_out: tuple[str, ...] = (),
        constants: bytes = b"",
        entries: dict[str, int] | None = None,
        lent: dict[str, int] | None = None,
    ) -> None:
        self._library = library()
        self._links: dict[str, int] = {}
        self._object = self._library.pointer(
            "opening the object", "bpf_object__open_mem", image, len(image), None
        )
        try:
            for name in leave_out:
                program = self._find(name)
                self._library.number(name, "bpf_program__set_autoload", program, False)
            if constants:
                found = self._find_map(".rodata")
                arguments = found, constants, len(constants)
                self._library.number("constants", "bpf_map__set_initial_value", *arguments)
            for name, count in (entries or {}).items():
                found = self._find_map(name)
                self._library.number(f"map {name}", "bpf_map__set_max_entries", found, count)
            for name, descriptor in (lent or {}).items():
                found = self._find_map(name)
                self._library.number(f"map {name}", "bpf_map__reuse_fd", found, descriptor)
            self._library.number("loading into the kernel", "bpf_object__load", self._object)
        except BpfError:
            self.close()
            raise

    def _find_map(self, name: str) -> int:
        return self._library.pointer(
            f"map {name}", "bpf_object__find_map_by_name", self._object, name.encode()
        )

    def _find(self, name: str) -> int:
        return self._library.pointer(
            f"program {name}", "bpf_object__find_program_by_name", self._object, name.encode()
        )

    def attach(self, names: tuple[str, ...]) -> None:
        """Let these programs run from now on, in this order.

        Raises:
            BpfError: the kernel refused; none of them runs then.
        """
        try:
            for name in names:
                self._links[name] = self._library.pointer(
                    f"attaching {name}", "bpf_program__attach", self._find(name)
                )
        except BpfError:
            self.detach(names)
            raise

    def runnable(self, name: str) -> RunnableProgram:
        """A program that runs when it is called.

        Raises:
            BpfError: it is not loaded.
        """
        return RunnableProgram(
            self._library.number(f"program {name}", "bpf_program__fd", self._find(name))
        )

    def iterate(self, name: str, pid: int) -> IteratorLink:
        """Let a task iterator walk the threads of a process.

        Args:
            name: of the program.
            pid: in the PID namespace of this process.

        Raises:
            BpfError: the kernel refused; before Linux 6.1 there are no walks of one process.
        """
        tasks = _TasksOf(pid=pid)
        options = _IterOptions(
            ctypes.sizeof(_IterOptions), ctypes.addressof(tasks), ctypes.sizeof(tasks)
        )
        return IteratorLink(
            self._library.pointer(
                f"attaching {name}",
                "bpf_program__attach_iter",
                self._find(name),
                ctypes.byref(options),
            )
        )

    def detach(self, names: tuple[str, ...] | None = None) -> None:
        """Let these programs run no more, or, without names, all; twice does no harm."""
        for name in tuple(self._links) if names is None else names:
            if link := self._links.pop(name, 0):
                self._library.call("bpf_link__destroy", link)

    def map(self, name: str) -> int:
        """The descriptor of a map; it is closed with this object.

        Raises:
            BpfError: there is none of this name.
        """
        return self._library.number(
            f"map {name}", "bpf_object__find_map_fd_by_name", self._object, name.encode()
        )

    def close(self) -> None:
        """Take it out of the kernel; twice does no harm."""
        self.detach()
        if self._object:
            self._library.call("bpf_object__close", self._object)
            self._object = 0


_NO_EXIST = 1  # BPF_NOEXIST


def write_entry(descriptor: int, key: bytes, value: bytes) -> None:
    """Set an entry of a map.

    Raises:
        BpfError: the kernel refused.
    """
    library().number("map update", "bpf_map_update_elem", descriptor, key, value, 0)


def read_entry(descriptor: int, key: bytes, length: int) -> bytes | None:
    """An entry of a map; None: there is none.

    Args:
        descriptor: of the map.
        key: of the entry.
        length: of its value, bytes.
    """
    value = ctypes.create_string_buffer(length)
    if library().call("bpf_map_lookup_elem", descriptor, key, value):
        return None
    return value.raw


def remove_entry(descriptor: int, key: bytes) -> None:
    """Remove an entry of a map; one that is not there is no error."""
    library().call("bpf_map_delete_elem", descriptor, key)


def write_map(descriptor: int, key: int | None, value: int) -> None:
    """Set an entry of a map of u32 values; a queue has no key.

    Raises:
        BpfError: the kernel refused.
    """
    where = None if key is None else ctypes.byref(ctypes.c_uint32(key))
    library().number(
        "map update",
        "bpf_map_update_elem",
        descriptor,
        where,
        ctypes.byref(ctypes.c_uint32(value)),
        0,
    )


def add(descriptor: int, key: int, value: int) -> bool:
    """Make an entry of a map with u32 keys and values, unless it is there.

    Returns:
        Whether it was not there.

    Raises:
        BpfError: the kernel refused.
    """
    words = ctypes.byref(ctypes.c_uint32(key)), ctypes.byref(ctypes.c_uint32(value))
    try:
        library().number("map update", "bpf_map_update_elem", descriptor, *words, _NO_EXIST)
    except BpfError as error:
        if error.errno != errno.EEXIST:
            raise
        return False
    return True


def remove(descriptor: int, key: int) -> bool:
    """Remove an entry of a map with u32 keys; whether it was there."""
    return not library().call("bpf_map_delete_elem", descriptor, ctypes.byref(ctypes.c_uint32(key)))
