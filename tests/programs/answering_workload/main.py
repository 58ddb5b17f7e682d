"""A workload whose figures are known: 100 operations a second and worker."""

import json
import sys
import time

mood, size = sys.argv[1], int(sys.argv[2])
print(json.dumps({"ready": ""}), flush=True)
for line in sys.stdin:
    if line == "begin\n":
        print("{}", flush=True)
        continue
    if mood == "crashes":
        sys.exit("it was to crash")
    # Repeats of a restless one are half a second apart at least, so none is near another.
    factor = 2.0 ** (time.monotonic() % 100) if mood == "restless" else 1.0
    print(json.dumps({"ops": 100 * size * factor, "elapsed_s": 1.0}), flush=True)
