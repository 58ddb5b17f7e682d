"""Broken frames and what the Python decoder makes of each, for the page's decoder to agree with.

`python tests/fuzz/verdicts.py FILE COUNT SEED` writes JSON lines: the frame in base64, and null for
one that was refused, or its rows with numbers as doubles. Only the Arrow part is broken.
"""

import base64
import json
import random
import sys
from pathlib import Path

from fuzz.frames import GOLDEN
from tidscope_wire.frame import FrameDecoder, FrameError, key_fields, split

TELLING = (0, 1, 2, 4, 8, 16, 127, 128, 254, 255)


FIELDS = key_fields(*split(GOLDEN["key"]))


def verdict(frame: bytes) -> dict[str, object] | None:
    """Content of a frame after the golden key frame; None if it is refused."""
    try:
        _, rows = FrameDecoder(FIELDS).decode(frame)
    except FrameError:
        return None
    columns: dict[str, list[float | None]] = {}
    for field, values in rows.columns.items():
        gone = rows.absent.get(field)
        columns[field] = [
            None if gone is not None and gone[row] else float(value)
            for row, value in enumerate(values.tolist())
        ]
    return {
        "tid": rows.tid.tolist(),
        "columns": columns,
        "start_ns": None if rows.start_ns is None else [float(at) for at in rows.start_ns.tolist()],
        "names": None if rows.name is None else list(rows.name),
        "pid": None if rows.pid is None else rows.pid.tolist(),
    }


def main(path: Path, count: int, seed: int) -> None:
    """Write the file."""
    dice = random.Random(seed)
    frames = list(GOLDEN.values())
    with path.open("w") as out:
        for _ in range(count):
            whole = dice.choice(frames)
            _, body = split(whole)
            start = min(len(whole) - len(body), len(whole) - 1)
            made = bytearray(whole)
            for _ in range(dice.randint(1, 4)):
                # Most of a stream is numbers: more patches go to the headers in front of them.
                reach = len(made) if dice.random() < 0.3 else min(len(made), start + 1100)
                made[dice.randrange(start, reach)] = (
                    dice.choice(TELLING) if dice.random() < 0.5 else dice.randrange(256)
                )
            line = {"frame": base64.b64encode(made).decode(), "rows": verdict(bytes(made))}
            out.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
