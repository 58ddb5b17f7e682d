"""A collector that takes stacks of a process until it has some of waits and of who ended them.

Usage: stacks_of.py PID. It prints JSON: its user, and how stacks are taken.
"""

import json
import os
import sys

from stack_collector import StackCollector

with StackCollector() as collector:
    target = collector.attach(int(sys.argv[1]))
    collector.sample(target)
    for node in ("node", "waker_node"):
        collector.until(lambda node=node: (target.samples[node] > 0).sum() >= 20)
    state = collector.state(target)
print(json.dumps({"user": os.getuid(), "trigger": state.trigger, "reason": state.reason}))
