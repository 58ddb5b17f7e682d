"""What the collector tells of its host and of itself."""

import os
import platform
from importlib.metadata import version

from tidscope_wire.generated.models import CollectorInfo, Host

from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.targets.sources import Sources

MAX_TARGETS = 32


def describe_host(procfs: ProcFs, sources: Sources) -> Host:
    """Describe this machine."""
    boot = procfs.read("sys/kernel/random/boot_id", 64).decode().strip()
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return Host(
        id=f"h-{boot.replace('-', '')[:12]}",
        name=platform.node(),
        kernel=platform.release(),
        cpus=os.cpu_count() or 1,
        cpu_model=_cpu_model(procfs),
        memory_bytes=memory,
        connected=True,
        collector=CollectorInfo(
            pid=os.getpid(),
            version=version("tidscope"),
            privileged=sources.kind == "taskstats",
            source=sources.kind,
            reason=sources.reason,
            max_targets=MAX_TARGETS,
        ),
    )


def _cpu_model(procfs: ProcFs) -> str:
    for line in procfs.read("cpuinfo", 65536).decode("utf-8", "replace").splitlines():
        key, _, value = line.partition(":")
        if key.strip() == "model name":
            return value.strip()
    return platform.machine()
