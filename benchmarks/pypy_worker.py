"""Runs a kernel so many times; the nanoseconds of each: KERNEL ITERATIONS [LIBRARY SOCKET].

With the client's library (pypy_jit.c), the prediction service decides before each iteration whether
the JIT gets more aggressive or more conservative; whether the iteration was faster than the one
before is what it learns. Run by PyPy (3.9), so no newer Python than that.
"""

import ctypes
import sys
import time
from importlib import import_module

Matrix = list[list[float]]

N = 24
DEFAULTS = {
    "decay": 40,
    "function_threshold": 1619,
    "loop_longevity": 1000,
    "threshold": 1039,
    "trace_eagerness": 200,
    "trace_limit": 6000,
}
LESS_IS_EAGER = ("function_threshold", "threshold", "trace_eagerness")
LEVELS = (0.25, 0.5, 1, 2, 4)
MAX_VALUES = {"trace_limit": 16000}


def matrix(seed: int) -> Matrix:
    """N rows of N numbers."""
    return [[((i * j + seed) % 97) / 97 for j in range(N)] for i in range(N)]


def gemm(a: Matrix, b: Matrix) -> object:
    """C = A B."""
    c = matrix(3)
    for i in range(N):
        for j in range(N):
            total = 0.0
            for k in range(N):
                total += a[i][k] * b[k][j]
            c[i][j] = 0.5 * c[i][j] + total
    return c


def atax(a: Matrix, _: Matrix) -> object:
    """y = A^T A x."""
    y = [0.0] * N
    for _again in range(8):
        for i in range(N):
            total = 0.0
            for j in range(N):
                total += a[i][j] * y[j]
            for j in range(N):
                y[j] += a[i][j] * (total * 1e-6 + 1)
    return y


def jacobi(a: Matrix, b: Matrix) -> object:
    """A stencil of five points, back and forth."""
    for _again in range(6):
        for i in range(1, N - 1):
            for j in range(1, N - 1):
                b[i][j] = 0.2 * (a[i][j] + a[i][j - 1] + a[i][j + 1] + a[i + 1][j] + a[i - 1][j])
        a, b = b, a
    return a


def floyd(a: Matrix, _: Matrix) -> object:
    """Shortest ways between all nodes."""
    for k in range(N):
        for i in range(N):
            for j in range(N):
                through = a[i][k] + a[k][j]
                a[i][j] = min(a[i][j], through)
    return a


def lu(a: Matrix, _: Matrix) -> object:
    """A triangle below and one above."""
    for i in range(N):
        for j in range(i):
            for k in range(j):
                a[i][j] -= a[i][k] * a[k][j]
            a[i][j] /= a[j][j] + 2
        for j in range(i, N):
            for k in range(i):
                a[i][j] -= a[i][k] * a[k][j]
    return a


def nussinov(a: Matrix, _: Matrix) -> object:
    """Dynamic programming over a triangle."""
    for i in range(N - 1, -1, -1):
        for j in range(i + 1, N):
            best = max(a[i][j - 1], a[i + 1][j] if i + 1 < N else 0)
            for k in range(i + 1, j):
                best = max(best, a[i][k] + a[k + 1][j] if k + 1 < N else best)
            a[i][j] = best
    return a


KERNELS = {one.__name__: one for one in (gemm, atax, jacobi, floyd, lu, nussinov)}


def apply(level: int) -> None:
    """Set the JIT's parameters: level 0 is the most aggressive, 2 the default."""
    values = []
    for name, default in DEFAULTS.items():
        factor = LEVELS[level] if name in LESS_IS_EAGER else LEVELS[4 - level]
        value = int(min(default * factor, MAX_VALUES.get(name, 1 << 30)))
        values.append(f"{name}={value}")
    import_module("pypyjit").set_param(",".join(values))


class Service:
    """The prediction service, by the library."""

    def __init__(self, library: str, path: str) -> None:
        self._library = ctypes.CDLL(library)
        if self._library.jit_open(path.encode()):
            raise SystemExit("no prediction service")
        self._asked = (ctypes.c_int64 * 3)()

    def eager(self, kernel: int, level: int, iteration: int) -> bool:
        """Predict whether to be more aggressive."""
        begun = kernel * 64 + min(iteration, 7) * 8 + level
        self._asked[:] = [kernel, kernel * 8 + level, begun]
        return int(self._library.jit_predict(self._asked, 3)) >= 0

    def learn(self, right: bool) -> None:
        """Teach whether the prediction was right."""
        self._library.jit_update(self._asked, 3, 1 if right else -1)


def main() -> None:
    """Measure."""
    name, iterations = sys.argv[1], int(sys.argv[2])
    kernel, number = KERNELS[name], sorted(KERNELS).index(name)
    service = Service(sys.argv[3], sys.argv[4]) if len(sys.argv) > 3 else None
    level, before = 2, 0
    times: list[int] = []
    for iteration in range(iterations):
        a, b = matrix(1), matrix(2)
        start = time.perf_counter_ns()
        eager = None
        if service is not None:
            eager = service.eager(number, level, iteration)
            wanted = max(level - 1, 0) if eager else min(level + 1, 4)
            if wanted != level:
                apply(wanted)
            level = wanted
        kernel(a, b)
        took = time.perf_counter_ns() - start
        times.append(took)
        if service is not None and before:
            service.learn((took < before) == eager)
        before = took
    print(*times)


main()
