"""Members that a kernel declares to append to struct taskstats.

A patched kernel names its extension in a file of its own; kernel/README.md describes the one that
is ours. No stock kernel has the file.
"""

from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.taskstats.layout import STOCK

PROFILE_FILE = "sys/kernel/taskstats_profile"


def kernel_profile(procfs: ProcFs) -> str:
    """The profile that the kernel tells, or the stock one if it tells none.

    A file that is there and cannot be read is no stock kernel's: the answer is then a profile that
    nobody knows, so that no layout is chosen by guessing.
    """
    try:
        reported = procfs.read(PROFILE_FILE, 64)
    except FileNotFoundError:
        return STOCK
    except OSError as error:
        return f"unreadable ({error.strerror})"
    return reported.decode("ascii", "replace").strip()
