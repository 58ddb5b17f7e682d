"""Types of the running kernel (BTF), by libbpf."""

import ctypes

from tidscope_collector.ebpf.libbpf import library

_BTF_KIND_VAR = 14
_BTF_KIND_DATASEC = 15


class KernelTypes:
    """Types of the running kernel (BTF); use it in a ``with`` statement.

    Raises:
        BpfError: the kernel has no BTF.
    """

    def __init__(self) -> None:
        self._btf = library().pointer("kernel types (BTF)", "btf__load_vmlinux_btf")

    def has(self, name: str, kind: int) -> bool:
        """Whether there is a type of this name and kind."""
        return self._find(name, kind) > 0

    def percpu_offset(self, name: str) -> int | None:
        """Offset of a per-CPU variable in its section, or None if there is no such variable."""
        section = self._find(".data..percpu", _BTF_KIND_DATASEC)
        variable = self._find(name, _BTF_KIND_VAR)
        if section < 0 or variable < 0:
            return None
        # linux/btf.h: struct btf_type (name; info, whose low 16 bits say how many members
        # there are; size), then for each member struct btf_var_secinfo (type, offset, size).
        at = library().pointer("kernel types (BTF)", "btf__type_by_id", self._btf, section)
        members = ctypes.c_uint32.from_address(at + 4).value & 0xFFFF
        rows = (ctypes.c_uint32 * (3 * members)).from_address(at + 12)
        for row in range(0, 3 * members, 3):
            if rows[row] == variable:
                return rows[row + 1]
        return None

    def _find(self, name: str, kind: int) -> int:
        return int(library().call("btf__find_by_name_kind", self._btf, name.encode(), kind))

    def close(self) -> None:
        """Free it; twice does no harm."""
        if self._btf:
            library().call("btf__free", self._btf)
            self._btf = 0

    def __enter__(self) -> "KernelTypes":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
