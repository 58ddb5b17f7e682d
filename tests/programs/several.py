"""Starts programs as its children, and more of them, or ends one, as its input says.

several.py COMMANDS, a list of command lines in JSON. A line of input is "start NUMBER" of one of
them, or "end PID".
"""

import json
import subprocess
import sys


def main() -> None:
    commands: list[list[str]] = json.loads(sys.argv[1])
    children: dict[int, subprocess.Popen[str]] = {}

    def start(number: int) -> int:
        child = subprocess.Popen(
            commands[number], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert child.stdout is not None
        said = child.stdout.readline()
        assert said.startswith("ready"), said
        children[child.pid] = child
        return child.pid

    def end(pid: int) -> None:
        child = children.pop(pid)
        assert child.stdin is not None
        child.stdin.close()
        child.wait()

    print("ready", *(start(number) for number in range(len(commands))), flush=True)
    for line in sys.stdin:
        what, number = line.split()
        if what == "start":
            print("done", start(int(number)), flush=True)
        else:
            end(int(number))
            print("done", number, flush=True)
    for pid in list(children):
        end(pid)


main()
