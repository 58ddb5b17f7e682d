"""Coverage-guided fuzzing of one decoder by atheris: python tests/fuzz TARGET [libFuzzer options].

Golden frames and the cases of tests/contract/corpus.json are the first inputs. Found cases belong
there, and a test runs each of them ever after: python tests/golden_cases.py TARGET NAME FILE.
"""

import logging
import sys
from pathlib import Path

import atheris

TESTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS))
logging.disable(logging.CRITICAL)

DECODERS = [
    "tidscope_collector.inspection.go_profiles",
    "tidscope_collector.inspection.goroutine_waits",
    "tidscope_collector.inspection.pprof",
    "tidscope_collector.goruntime",
    "tidscope_wire.frame",
]
with atheris.instrument_imports(include=DECODERS):
    from fuzz.targets import TARGETS
    from golden_cases import cases, golden_frames


def main() -> None:
    """Fuzz until a signal stops it, or until something is found."""
    name = sys.argv[1] if len(sys.argv) > 1 else ""
    if name not in TARGETS:
        sys.exit(f"usage: python tests/fuzz {{{'|'.join(TARGETS)}}} [libFuzzer options]")
    folder = TESTS.parent / ".cache/fuzz/seeds" / name
    folder.mkdir(parents=True, exist_ok=True)
    for seed, data in {**golden_frames(), **cases().get(name, {})}.items():
        (folder / seed).write_bytes(data)
    atheris.Setup([sys.argv[0], *sys.argv[2:], str(folder)], TARGETS[name])
    atheris.Fuzz()


main()
