"""Effect of the prediction service on PyPy's first iterations, which its source reports.

Small kernels in pure Python (pypy_worker.py) run for 20 iterations in new PyPy processes: with the
JIT's default parameters, and with the service deciding before each iteration whether six of them
get more aggressive or more conservative (a quarter to four times the default), in turn. One model
serves all processes, so later ones start with what earlier ones taught. The time of an iteration
includes the decision and setting the parameters.

`gain_percent` is how much longer the default takes in all, over kernels the geometric mean, with an
interval of 95 % from a bootstrap over blocks; `first_half` and `second_half` are of the earlier and
of the later blocks. The source has 15.4 % for 20 iterations of 30 kernels. PyPy is Debian's
(pypy3, unpacked to .cache/pypy if it is not installed).
"""

import argparse
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from estimates import Floats, alternate
from running import HERE

KERNELS = ("gemm", "atax", "jacobi", "floyd", "lu", "nussinov")
ITERATIONS = 20
STATES = ("default", "service")
CACHE = HERE.parent / ".cache" / "pypy"
_RESAMPLES = 2000


def find_pypy() -> tuple[str, dict[str, str]]:
    """PyPy, and the environment that it needs."""
    installed = shutil.which("pypy3")
    if installed:
        return installed, dict(os.environ)
    unpack = [str(HERE.parent / "tools" / "unpack-packages"), str(CACHE), "pypy3", "pypy3-lib"]
    subprocess.run(unpack, check=True)
    library = next(CACHE.rglob("libpypy3*-c.so"))
    return str(next(CACHE.rglob("bin/pypy3"))), {
        **os.environ,
        "LD_LIBRARY_PATH": str(library.parent),
    }


def gain(default: Floats, changed: Floats, seed: int = 1) -> dict[str, Any]:
    """Extra time of the default, in percent; arguments are float64[kernels, blocks]."""
    logs = np.log(default / changed)
    blocks = logs.shape[1]
    rng = np.random.default_rng(seed)
    picks = rng.integers(0, blocks, (_RESAMPLES, blocks))
    means = np.median(logs[:, picks], axis=2).mean(axis=0)
    low, high = np.percentile(means, [2.5, 97.5])
    value = float(np.median(logs, axis=1).mean())
    shown = [round(100 * math.expm1(float(one)), 1) for one in (value, low, high)]
    return {"percent": shown[0], "interval": shown[1:]}


def measure(folder: Path, blocks: int) -> dict[str, Any]:
    """All figures."""
    pypy, environment = find_pypy()
    library = folder / "jit.so"
    include = f"-I{HERE.parent / 'predictd' / 'include'}"
    options = ["-std=c11", "-O2", "-shared", "-fPIC", include]
    source = str(HERE / "pypy_jit.c")
    subprocess.run(["cc", *options, "-o", str(library), source], check=True)
    address = folder / "socket"
    places = ["--socket", str(address), "--folder", str(folder / "models")]
    daemon = subprocess.Popen(
        [sys.executable, "-m", "tidscope_backend", "predictd", *places],
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert daemon.stderr is not None
        if not any("serving" in line for line in iter(daemon.stderr.readline, "")):
            raise SystemExit("the daemon did not start")
        worker = str(HERE / "pypy_worker.py")

        def run(state: str) -> tuple[float, ...]:
            more: Sequence[str] = () if state == "default" else (str(library), str(address))
            found = []
            for kernel in KERNELS:
                command = [pypy, worker, kernel, str(ITERATIONS), *more]
                done = subprocess.run(
                    command, env=environment, capture_output=True, text=True, check=True
                )
                found.append(float(sum(map(int, done.stdout.split()))))
            return tuple(found)

        found = alternate(STATES, blocks, run, 1)
    finally:
        daemon.terminate()
        daemon.communicate()
    half = blocks // 2
    default, service = found["default"], found["service"]
    return {
        "iterations": ITERATIONS,
        "gain_percent": gain(default, service),
        "first_half": gain(default[:, :half], service[:, :half]),
        "second_half": gain(default[:, half:], service[:, half:]),
        "kernels": {
            kernel: {
                "default_ms": round(float(np.median(default[place])) / 1e6, 2),
                "service_ms": round(float(np.median(service[place])) / 1e6, 2),
                **gain(default[place : place + 1], service[place : place + 1]),
            }
            for place, kernel in enumerate(KERNELS)
        },
        "blocks": blocks,
    }


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--blocks", type=int, default=20, help="runs of each (%(default)s)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = measure(Path(folder), options.blocks)
    if options.json:
        print(json.dumps(found, indent=2))
        return
    for name in ("gain_percent", "first_half", "second_half"):
        print(f"{name}: {found[name]['percent']} % {found[name]['interval']}")
    for kernel, row in found["kernels"].items():
        shown = f"{row['default_ms']} ms by default, {row['service_ms']} ms by the service"
        print(f"  {kernel}: {shown}, {row['percent']} % {row['interval']}")


if __name__ == "__main__":
    main()
