"""Builds the programs that tests watch, once for each content of their source."""

import fcntl
import hashlib
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

CACHE = Path(__file__).parents[2] / ".cache" / "programs"


def cached(name: str, source: bytes, command: Sequence[str], *, env: dict[str, str]) -> Path:
    """Run ``command`` + ["-o", PATH] unless its result is there already; the path of the result.

    ``source`` and ``command`` make the key. Builders may run side by side.

    Raises:
        RuntimeError: the compiler refused, with what it said.
    """
    key = hashlib.sha256(source + "\0".join(command).encode()).hexdigest()[:16]
    result = CACHE / key / name
    result.parent.mkdir(parents=True, exist_ok=True)
    with (result.parent / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if result.exists():
            return result
        unfinished = result.with_suffix(".new")
        built = subprocess.run(
            [*command, "-o", str(unfinished)], env=env, capture_output=True, text=True, check=False
        )
        if built.returncode != 0:
            raise RuntimeError(f"{' '.join(command)}:\n{built.stderr}")
        unfinished.rename(result)
    return result


def build_c(source: Path, *flags: str) -> Path:
    """Compile one C file with the system's compiler; the path of the executable."""
    compile_it = ["cc", "-O1", "-Wall", "-Wextra", "-Werror", "-pthread", *flags, str(source)]
    return cached(source.stem, source.read_bytes(), compile_it, env=dict(os.environ))
