"""Check that a fetched kernel has the members of structs which the eBPF programs read.

    python kernel/check_types.py FOLDER     (of kernel/fetch; root)

Nothing is booted: libbpf relocates the committed objects to the kernel's types (CO-RE), and says
what it does not find. Fails if that is a member whose absence the programs do not expect. Whether
that kernel's verifier takes the programs is not checked.
"""

import ctypes
import os
import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKED = {b"\xfd7zXZ\0": "xz", b"\x28\xb5\x2f\xfd": "zstd", b"\x02!L\x18": "lz4"}
OTHER = {"x86_64": "arm64", "aarch64": "x86"}[os.environ.get("ARCH") or os.uname().machine]
"""Suffix of structs of the other processor; ARCH names that of the kernel."""
EXPECTED = re.compile(
    rf".*___{OTHER}\b.*|struct task_delay_info\.irq_(count|delay)|typedef btf_trace_bpf_trigger_tp"
    r"|struct task_struct\.throttle(d|_node.*)|struct cfs_rq\.throttled_clock_self(_time)?"
)
"""Members that programs read only where they exist, or on other processors."""
BTF_START = struct.pack("<HBBI", 0xEB9F, 1, 0, 24)
"""First members of struct btf_header: magic, version, flags, length of the header."""
_Print = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)


class _Options(ctypes.Structure):
    """struct bpf_object_open_opts of libbpf 1.1, up to its path of types."""

    _fields_ = (
        ("size", ctypes.c_size_t),
        ("object_name", ctypes.c_char_p),
        ("relaxed_maps", ctypes.c_bool),
        ("pin_root_path", ctypes.c_char_p),
        ("spare", ctypes.c_uint64),
        ("kconfig", ctypes.c_char_p),
        ("btf_custom_path", ctypes.c_char_p),
    )


def unpacked(kernel: Path) -> bytes:
    """Return a kernel as it lies in memory: what is compressed in a file, or all of the file."""
    content = kernel.read_bytes()
    for magic, program in PACKED.items():
        at = content.find(magic)
        while at >= 0:
            done = subprocess.run(
                [program, "-dc"], input=content[at:], capture_output=True, check=False
            )
            if done.stdout.startswith(b"\x7fELF"):
                return done.stdout
            at = content.find(magic, at + 1)
    # Kernels for aarch64 are not compressed.
    return content


def types_in(kernel: bytes) -> bytes:
    """Return the types (BTF) in a kernel.

    Raises:
        SystemExit: none are in it.
    """
    at = kernel.find(BTF_START)
    while at >= 0:
        # Offset and length of the types, and of the strings, which follow them.
        first, types, second, strings = struct.unpack_from("<4I", kernel, at + 8)
        end = at + len(BTF_START) + 16 + second + strings
        if first == 0 and types == second and end <= len(kernel) and kernel[end - 1] == 0:
            return kernel[at:end]
        at = kernel.find(BTF_START, at + 1)
    raise SystemExit("the kernel has no types (BTF)")


def absent(image: Path, types: Path) -> set[str]:
    """Return what an object reads that these types lack."""
    library, libc = ctypes.CDLL("libbpf.so.1"), ctypes.CDLL(None)
    lines: list[str] = []

    def take(_level: int, text: int, arguments: int) -> int:
        line = ctypes.create_string_buffer(512)
        libc.vsnprintf(line, ctypes.c_size_t(len(line)), *map(ctypes.c_void_p, (text, arguments)))
        lines.append(line.value.decode("utf-8", "replace"))
        return 0

    printing = _Print(take)
    library.libbpf_set_print(printing)
    library.bpf_object__open_file.restype = ctypes.c_void_p
    options = _Options(size=ctypes.sizeof(_Options), btf_custom_path=bytes(types))
    opened = ctypes.c_void_p(library.bpf_object__open_file(bytes(image), ctypes.byref(options)))
    if not opened:
        raise SystemExit(f"{image} cannot be opened")
    library.bpf_object__load(opened)
    library.bpf_object__close(opened)
    found, wanted, relocations = set(), "", 0
    for line in lines:
        # `relo #4: <byte_off> [7] struct rq.clock (0:1 @ offset 8)`
        if asked := re.search(r"relo #\d+: <\w+> \[\d+\] (\w+ [\w.]+)", line):
            wanted, relocations = asked[1], relocations + 1
        elif line.endswith("no matching targets found\n"):
            found.add(wanted)
    if not relocations:
        raise SystemExit(f"{image}: libbpf relocated nothing: {lines[-1:]}")
    return found


def main() -> int:
    """Check all objects."""
    unexpected = 0
    with tempfile.TemporaryDirectory() as made:
        types = Path(made, "btf")
        types.write_bytes(types_in(unpacked(Path(sys.argv[1], "vmlinuz"))))
        for image in sorted(ROOT.glob("sampler/src/*/*.bpf.o")):
            for one in sorted(absent(image, types)):
                expected = EXPECTED.fullmatch(one) is not None
                unexpected += not expected
                print(f"{image.stem}: {one}: {'absent' if expected else 'ABSENT'}")
    return 1 if unexpected else 0


if __name__ == "__main__":
    sys.exit(main())
