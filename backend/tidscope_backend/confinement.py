"""Rights that processes of a backend started by root keep.

None of them needs a right of root's but the launcher of the collector, which keeps what a collector
sets itself up with.
"""

import errno

from tidscope_confinement import capabilities, seccomp

_REFUSED = """
    ptrace process_vm_readv process_vm_writev pidfd_getfd open_by_handle_at mount umount2 pivot_root
    chroot move_mount open_tree fsopen fsmount fsconfig mount_setattr setns unshare init_module
    finit_module delete_module kexec_load kexec_file_load reboot swapon swapoff userfaultfd
    io_uring_setup add_key keyctl request_key
"""
"""Calls that neither a backend nor a collector makes at any time."""
_OF_COLLECTORS = "bpf perf_event_open"
"""Calls that a collector makes to set itself up."""
_NAMESPACES = 0x7E020080  # CLONE_NEW*, sched.h

LAUNCHER = frozenset({*capabilities.NAMES, capabilities.SETGID, capabilities.SETPCAP})
"""Capabilities of the launcher: the collector's for its set-up, and two to give up others."""


def confine_backend() -> str:
    """Give up all capabilities, and system calls that no backend makes; for good. Idempotent.

    Call it while there is one thread.

    Returns:
        Why system calls are not filtered, or "".

    Raises:
        OSError: capabilities cannot be given up.
    """
    capabilities.harden()
    capabilities.keep(frozenset())
    return _filter(f"{_REFUSED} {_OF_COLLECTORS}")


def confine_launcher() -> str:
    """Keep the capabilities of LAUNCHER; otherwise the same."""
    capabilities.harden(LAUNCHER)
    capabilities.keep(LAUNCHER)
    return _filter(_REFUSED)


def _filter(refused: str) -> str:
    try:
        seccomp.install(
            seccomp.Calls(
                conditional={
                    "clone": seccomp.Rule(((seccomp.Argument(0, 0, _NAMESPACES),),)),
                },
                # The C library then uses clone, whose flags a filter can see.
                refused=dict.fromkeys(refused.split(), errno.EPERM) | {"clone3": errno.ENOSYS},
                otherwise=seccomp.ALLOW,
            )
        )
    except (OSError, seccomp.UnsupportedProcessorError) as error:
        return f"system calls are not filtered: {error}"
    return ""
