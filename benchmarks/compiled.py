"""The C programs of the benchmarks, built when they are needed."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).resolve().parent


def build(name: str, folder: Path, *options: str) -> Path:
    """Compile NAME.c of this folder into another one; the program's path."""
    program = folder / name
    compiler = shutil.which("cc") or "cc"
    command = [compiler, "-O2", "-pthread", *options, "-o", str(program)]
    command.append(str(HERE / f"{name}.c"))
    subprocess.run(command, check=True)
    return program


def build_bpf(name: str, folder: Path) -> bytes:
    """Compile NAME.bpf.c of this folder; the object, as it is loaded."""
    compiled = folder / f"{name}.bpf.o"
    headers = f"-I/usr/include/{os.uname().machine}-linux-gnu"
    options = ("-target", "bpf", "-mcpu=v3", "-O2", "-g", headers)
    source = str(HERE / f"{name}.bpf.c")
    subprocess.run(["clang", *options, "-c", source, "-o", str(compiled)], check=True)
    return compiled.read_bytes()


@contextmanager
def wakers(threads: int, period_ms: int, sleeping: int = 0) -> Iterator[int]:
    """Run a program of so many threads; all but `sleeping` wake once a period. Its process id."""
    with tempfile.TemporaryDirectory() as folder:
        command = [str(build("wakers", Path(folder))), str(threads), str(period_ms), str(sleeping)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            try:
                assert process.stdout is not None
                process.stdout.readline()
                yield process.pid
            finally:
                process.kill()
