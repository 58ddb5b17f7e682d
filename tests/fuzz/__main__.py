"""Coverage-guided fuzzing of one decoder by atheris: python tests/fuzz TARGET [libFuzzer options].

Found cases belong into tests/contract/corpus/TARGET/, where a test runs each of them ever after.
"""

import logging
import sys
from pathlib import Path

import atheris

TESTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS))
logging.disable(logging.CRITICAL)

DECODERS = [
    "tidscope_collector.inspection.pprof",
    "tidscope_collector.goruntime",
    "tidscope_wire.frame",
]
with atheris.instrument_imports(include=DECODERS):
    from fuzz.targets import TARGETS


def main() -> None:
    """Fuzz until a signal stops it, or until something is found."""
    name = sys.argv[1] if len(sys.argv) > 1 else ""
    if name not in TARGETS:
        sys.exit(f"usage: python tests/fuzz {{{'|'.join(TARGETS)}}} [libFuzzer options]")
    atheris.Setup([sys.argv[0], *sys.argv[2:]], TARGETS[name])
    atheris.Fuzz()


main()
