"""Loading of modules at the start of a process."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def loading() -> Iterator[None]:
    """Disable garbage collection while modules load, which saves a fifth of the time.

    Loaded objects live until exit, so later collections exclude them, also in forks.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
