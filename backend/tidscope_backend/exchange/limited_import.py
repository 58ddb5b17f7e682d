"""Unpacks and rewrites a run, as a limited process that a hostile archive may crash.

`python -m tidscope_backend.exchange.limited_import ARCHIVE FOLDER LIMITS` fills FOLDER/run. The
first line of standard output is the kind of answer. The manifest as JSON, the reason of a refusal,
or the errno of a disk error follows.
"""

import json
import sys
from pathlib import Path

from tidscope_confinement.resources import Limits, limit_resources

from tidscope_backend.exchange.confinement import confine

DONE, REFUSED, FAILED = b"manifest", b"refused", b"errno"
MAX_TEXT = 1000


def main() -> int:
    """Run the command line."""
    archive, folder = Path(sys.argv[1]), Path(sys.argv[2])
    orders = json.loads(sys.argv[3])
    limit_resources(Limits(**orders["limits"]))
    confine([archive], folder)
    # Import after confine, which needs a single-threaded process.
    kind, text = _imported(archive, folder, orders["bounds"])
    sys.stdout.buffer.write(kind + b"\n" + text.encode(errors="replace"))
    return 0


def _imported(archive: Path, folder: Path, bounds: dict[str, int]) -> tuple[bytes, str]:
    """Return the kind and content of the answer."""
    import pyarrow as pa
    from pydantic import ValidationError

    from tidscope_backend.exchange.rewriting import rewrite_run
    from tidscope_backend.exchange.unpacking import BadArchiveError, Bounds, unpack
    from tidscope_backend.store.folder import RunFolder
    from tidscope_backend.text import validation_text

    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
    unpacked, into = folder / "unpacked", RunFolder(folder / "run")
    unpacked.mkdir()
    into.make()
    try:
        unpack(archive, unpacked, Bounds(**bounds))
        return DONE, rewrite_run(RunFolder(unpacked), into).model_dump_json()
    except BadArchiveError as error:
        why = str(error)
    except ValidationError as error:
        why = f"it cannot be read: {validation_text(error)}"
    except MemoryError:
        why = "it takes more memory than an import may use"
    except (
        RecursionError,
        ValueError,
        KeyError,
        IndexError,
        TypeError,
        pa.ArrowException,
    ) as error:
        why = f"it cannot be read: {error}"
    except OSError as error:
        if error.errno is not None and not isinstance(error, FileNotFoundError):
            return FAILED, str(error.errno)
        why = f"it cannot be read: {error}"
    return REFUSED, why[:MAX_TEXT]


if __name__ == "__main__":
    sys.exit(main())
