"""The end of a process that was asked to end."""

import subprocess


def wait_or_kill(process: "subprocess.Popen[bytes]", seconds: float) -> None:
    """Wait for its end, and kill it if that takes too long; its output is read no more.

    Args:
        process: has been asked to end.
        seconds: how long it may take.
    """
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.stdout is not None:
        process.stdout.close()
