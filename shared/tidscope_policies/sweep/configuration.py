"""The line that sets a size for good, to paste where a program is started or its pool is made."""

from typing import Literal

PoolKind = Literal["go", "python", "java", "rust"]

LINES: dict[PoolKind, str] = {
    "go": "GOMAXPROCS={size}",
    "python": "ThreadPoolExecutor(max_workers={size})",
    "java": "Executors.newFixedThreadPool({size})",
    "rust": "Pool::new(name, {size})",
}


def line(kind: PoolKind, size: int) -> str:
    """What to write: an environment variable, or the call that makes the pool.

    Raises:
        ValueError: the size is below 1.
    """
    if size < 1:
        raise ValueError(f"size {size}: want at least 1")
    return LINES[kind].format(size=size)
