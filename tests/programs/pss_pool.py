"""A simulated pool steered by pss for so many intervals: SOCKET BEST INTERVALS; prints its sizes.

The service's model is used if there is one.
"""

import sys
from pathlib import Path

from policy_harness import Pool, peak
from tidscope_policies.perceptron import Rule
from tidscope_policies.registry import POLICIES
from tidscope_predictd.client import open_model
from tidscope_predictd.shared import SharedPredictor


def main() -> None:
    """Steer it."""
    path, best, intervals = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    learner = SharedPredictor(lambda: open_model("pool", path=path, timeout_s=30), Rule())
    ready = POLICIES["pss"].make({"rest": 0}, learner=lambda _: learner)
    pool = Pool(ready.policy, peak(best), 4, interval_s=ready.interval_s)
    print(learner.shared, *pool.run(intervals))
    learner.close()


if __name__ == "__main__":
    main()
