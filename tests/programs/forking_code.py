"""Starts programs of known_code.py as its children, again for each line "SECONDS"; see forked_code.

forking_code.py COMMANDS, a list of command lines in JSON. Writes their accounts as a list in JSON
when all have ended.
"""

import json
import subprocess
import sys


def main() -> None:
    """Answer lines until the input ends."""
    commands: list[list[str]] = json.loads(sys.argv[1])
    print("ready", flush=True)
    for line in sys.stdin:
        children = [
            subprocess.Popen(one, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            for one in commands
        ]
        for child in children:
            assert child.stdin is not None
            child.stdin.write(line)
            child.stdin.close()
        said = []
        for child in children:
            assert child.stdout is not None
            said.append(json.loads(child.stdout.read().splitlines()[1]))
            child.wait()
        print(json.dumps(said), flush=True)


main()
