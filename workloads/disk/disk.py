"""Reads and writes of fio, on files written before the measurement."""

import argparse
import functools
import json
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from generated import output_of, serve, started, whole_seconds

PERCENTILES = {"50.000000": "p50_us", "95.000000": "p95_us", "99.000000": "p99_us"}


def main() -> None:
    """Serve until the end of the input."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--pattern", required=True)
    parser.add_argument("--block-kib", type=int, required=True)
    parser.add_argument("--access", choices=["direct", "buffered"], required=True)
    parser.add_argument("--engine", required=True)
    parser.add_argument("--depth", type=int, required=True)
    parser.add_argument("--file-mib", type=int, required=True)
    parser.add_argument("--folder", choices=["temporary", "cache"], required=True)
    parser.add_argument("--warm-up", type=float, required=True)
    parser.add_argument("--measure", type=float, required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tidscope-disk-", dir=_place(options.folder)) as folder:
        command = functools.partial(_command, options, Path(folder))
        # The files are written first, so that reads find more than holes.
        output_of(started([*command("write", 0), "--create_only=1"]))
        if options.warm_up > 0:
            output_of(started(command(options.pattern, options.warm_up)))
        serve(lambda: started(command(options.pattern, options.measure)), figures)


def _place(name: str) -> str:
    if name == "temporary":
        return tempfile.gettempdir()
    base = os.environ.get("XDG_CACHE_HOME")
    place = (Path(base) if base else Path.home() / ".cache") / "tidscope"
    place.mkdir(parents=True, exist_ok=True)
    return str(place)


def _command(
    options: argparse.Namespace, folder: Path, pattern: str, seconds: float
) -> Sequence[str]:
    return [
        *("fio", "--name=disk", "--thread", "--group_reporting", "--output-format=json"),
        *(f"--directory={folder}", f"--size={options.file_mib}m", f"--numjobs={options.threads}"),
        *(f"--rw={pattern}", f"--bs={options.block_kib}k", f"--ioengine={options.engine}"),
        *(f"--iodepth={options.depth}", f"--direct={int(options.access == 'direct')}"),
        *("--percentile_list=50:95:99", "--randrepeat=0", "--norandommap", "--fallocate=none"),
        *(("--time_based", f"--runtime={whole_seconds(seconds)}") if seconds > 0 else ()),
    ]


def figures(said: str) -> dict[str, float]:
    """Return fio's figures: reads and writes together, latencies of the more frequent kind."""
    job = json.loads(said[said.index("{") :])["jobs"][0]
    kinds = [job["read"], job["write"]]
    most = max(kinds, key=lambda kind: kind["total_ios"])
    latency = most["clat_ns"]
    return {
        "ops": sum(kind["total_ios"] for kind in kinds),
        "elapsed_s": max(kind["runtime"] for kind in kinds) / 1e3,
        "moved_bytes": sum(kind["bw_bytes"] for kind in kinds),
        "deviation_us": latency["stddev"] / 1e3,
        **{
            name: latency["percentile"][key] / 1e3
            for key, name in PERCENTILES.items()
            if key in latency.get("percentile", {})
        },
    }


if __name__ == "__main__":
    main()
