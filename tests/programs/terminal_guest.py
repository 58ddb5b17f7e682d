"""A program in a terminal: says what it gets, a line for each. It ends at the third Ctrl-C.

Signals wait for it in a queue, so none is lost and each is counted.
"""

import os
import signal

SIGNALS = (
    signal.SIGINT,
    signal.SIGTERM,
    signal.SIGHUP,
    signal.SIGQUIT,
    signal.SIGUSR1,
    signal.SIGUSR2,
    signal.SIGWINCH,
    signal.SIGCONT,
)
ENOUGH = 3

signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
print("terminals", *(os.isatty(descriptor) for descriptor in range(3)), flush=True)
print("ready", os.getpid(), os.getppid(), flush=True)
seen: dict[int, int] = {}
while seen.get(signal.SIGINT, 0) < ENOUGH:
    number = signal.sigwait(SIGNALS)
    seen[number] = seen.get(number, 0) + 1
    size = os.get_terminal_size(0) if os.isatty(0) else ""
    print(signal.Signals(number).name, seen[number], *size, flush=True)
raise SystemExit(9)
