"""Runs: recorded, kept as folders that explain themselves, compared (docs/runs.md).

For notebooks (docs/notebook.md) there are `open_run`, `list_runs`, `compare` and `Run`. They are
loaded when they are first used: the backend uses other parts of this package.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tidscope_backend.runs.notebook import Run, compare, list_runs, open_run

__all__ = ["Run", "compare", "list_runs", "open_run"]


def __getattr__(name: str) -> object:
    if name in __all__:
        return getattr(import_module("tidscope_backend.runs.notebook"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
