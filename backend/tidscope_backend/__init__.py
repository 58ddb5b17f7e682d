"""The unprivileged part of tidscope: HTTP and WebSocket server, and the command line."""

import os
import sys
from importlib.metadata import version
from typing import Any

# Arrow's own pools keep a hundred megabytes after reading a large run; freed memory of the system
# allocator can be returned (processes.py). Arrow reads the variable while loading.
os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")

# FastAPI imports pydantic's first version to recognize models of it, and goes on where that is
# missing. No model here is one, and the import takes some hundredths of a second.
_modules: dict[str, Any] = sys.modules
_modules["pydantic.v1"] = None

VERSION = version("tidscope")
