"""How /proc is mounted."""

from tidscope_collector.procfs.files import ProcFs

NOTHING_HIDDEN = ("0", "off")


def hidepid(procfs: ProcFs) -> str | None:
    """The mount option of that name; "0" if it is not given, None if that cannot be read.

    The last mount counts: in proc_pid_mountinfo(5) the super block's options come last.
    """
    try:
        mounts = procfs.read("self/mountinfo", 1 << 20).decode(errors="replace")
    except OSError:
        return None
    found = None
    for line in mounts.splitlines():
        columns = line.split()
        if len(columns) > 5 and columns[4] == str(procfs.root) and " - proc " in line:
            options = dict(
                option.partition("=")[::2] for option in columns[-1].split(",") if "=" in option
            )
            found = options.get("hidepid", "0")
    return found
