"""A collector that takes stacks of a process until it has some of waits and of who ended them.

Usage: stacks_of.py PID. It prints JSON: its user, and how stacks are taken.
"""

import json
import os
import sys

import numpy as np
from stack_collector import StackCollector

with StackCollector() as collector:
    target = collector.attach(int(sys.argv[1]))
    collector.sample(target)
    collector.until(lambda: int(np.count_nonzero(target.samples["node"])) >= 20)
    collector.until(lambda: int(np.count_nonzero(target.samples["waker_node"])) >= 20)
    state = collector.state(target)
print(json.dumps({"user": os.getuid(), "trigger": state.trigger, "reason": state.reason}))
