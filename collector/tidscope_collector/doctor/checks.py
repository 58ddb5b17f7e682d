"""Checks of kernel, capabilities and machine: from facts to finding, impact and fix."""

import re
from collections.abc import Sequence

from tidscope_confinement.capabilities import capability_name
from tidscope_wire.generated.models import CheckStatus, DoctorCheck

from tidscope_collector.confinement.confine import Confinement
from tidscope_collector.doctor.check import (
    MAX_LISTED,
    PROC_FALLBACK,
    as_root,
    grant,
    leave_namespaces,
    make_check,
)
from tidscope_collector.doctor.facts import (
    CAP_DAC_OVERRIDE,
    CAP_KILL,
    CAP_NET_ADMIN,
    CAP_SYS_PTRACE,
    Facts,
)
from tidscope_collector.procfs.machine import NOTHING_HIDDEN
from tidscope_collector.steering.loop.affinity_leases import LeftChanged

_OLDEST = (5, 4)
_CHEAP_CLOCKS = frozenset({"tsc", "kvm-clock", "arch_sys_counter", "hyperv_clocksource_tsc_page"})


def kernel(facts: Facts) -> DoctorCheck:
    """Check that tidscope supports the kernel."""
    about = "kernel", "Kernel release"
    version = kernel_version(facts.kernel)
    if version is None:
        return make_check(
            about,
            "limited",
            f"{facts.kernel!r} is not a Linux release.",
            "Whether tidscope supports this kernel is unknown.",
        )
    if version < _OLDEST:
        return make_check(
            about,
            "limited",
            f"Linux {facts.kernel}, older than 5.4.",
            "tidscope is not tested on kernels this old.",
            "Boot a newer kernel.",
        )
    return make_check(about, "ok", f"Linux {facts.kernel}")


def rights(facts: Facts) -> DoctorCheck:
    """Check that the collector has the capabilities that it uses."""
    about = "capabilities", "Capabilities of the collector"
    if facts.capabilities is None:
        return make_check(
            about,
            "limited",
            "The effective capabilities cannot be read.",
            "Whether the collector may use taskstats is unknown.",
        )
    admin = CAP_NET_ADMIN in facts.capabilities
    ptrace = CAP_SYS_PTRACE in facts.capabilities
    finding = (
        f"CAP_NET_ADMIN: {'yes' if admin else 'no'}, CAP_SYS_PTRACE: {'yes' if ptrace else 'no'}"
    )
    impact, missing = [], []
    if not admin:
        missing.append("CAP_NET_ADMIN")
        impact.append(f"Without CAP_NET_ADMIN there is no taskstats. {PROC_FALLBACK}")
    if not ptrace:
        missing.append("CAP_SYS_PTRACE")
        impact.append(
            "Without CAP_SYS_PTRACE, processes of other users show no GOMAXPROCS, executable, "
            "ports and I/O counters."
        )
    status: CheckStatus = "ok" if not missing else "limited" if admin else "failed"
    fix = grant(facts, *missing) if missing else ""
    return make_check(about, status, finding, " ".join(impact), fix)


def namespaces(facts: Facts) -> DoctorCheck:
    """Check that the collector is in the namespaces that receive exit records."""
    about = "namespaces", "Namespaces"
    found = {
        "user": facts.namespaces.user,
        "pid": facts.namespaces.pid,
        "network": facts.namespaces.net,
    }
    impacts = {
        "user": "user: the kernel accepts CAP_NET_ADMIN of the initial namespace only; taskstats "
        "refuses.",
        "pid": "pid: the kernel refuses to send exit records, and only processes of this namespace "
        "are visible.",
        "network": "network: the kernel sends exit records to the initial namespace only; none "
        "arrives here.",
    }
    other = [kind for kind, status in found.items() if status == "other"]
    finding = ", ".join(f"{kind}: {status}" for kind, status in found.items())
    if other:
        impact = " ".join(impacts[kind] for kind in other)
        return make_check(about, "failed", finding, impact, leave_namespaces(other))
    if "unknown" in found.values():
        return make_check(
            about, "limited", finding, "Exit records may not arrive: the namespaces are unknown."
        )
    return make_check(about, "ok", finding)


def delay_accounting(facts: Facts) -> DoctorCheck:
    """Check that the kernel accounts block I/O and memory delays."""
    about = "delay-accounting", "Delay accounting"
    impact = (
        "No delays for block I/O, swap-in, thrashing, reclaim, compaction, copy-on-write and "
        "interrupts. Run-queue delay does not need it."
    )
    if facts.task_delayacct is None:
        version = kernel_version(facts.kernel)
        if version is not None and version < (5, 14):
            return make_check(
                about,
                "limited",
                "Kernels before 5.14 have no switch; it is on unless booted with nodelayacct.",
                "Whether block I/O and memory delays are measured is unknown.",
            )
        return make_check(
            about,
            "limited",
            "kernel.task_delayacct does not exist: the kernel lacks CONFIG_TASK_DELAY_ACCT.",
            impact,
            "Boot a kernel with CONFIG_TASK_DELAY_ACCT=y.",
        )
    if facts.task_delayacct:
        return make_check(
            about,
            "ok",
            "kernel.task_delayacct = 1; threads started before it was enabled have no delays.",
            enabled=True,
        )
    return make_check(
        about,
        "limited",
        "kernel.task_delayacct = 0",
        f"{impact} Threads started before it is enabled have none: restart the target afterwards.",
        as_root(facts, "sysctl -w kernel.task_delayacct=1"),
        enabled=False,
    )


def process_list(facts: Facts) -> DoctorCheck:
    """Check that all processes are visible."""
    about = "process-list", "Visibility of processes and threads"
    if not facts.schedstat:
        return make_check(
            about,
            "limited",
            "/proc/PID/schedstat does not exist.",
            "Without taskstats there is no on-CPU time and no run-queue delay.",
            "Boot a kernel with CONFIG_SCHED_INFO=y.",
        )
    if facts.hidepid is None:
        return make_check(
            about,
            "limited",
            "How /proc is mounted cannot be read.",
            "Whether /proc hides processes of other users is unknown.",
        )
    if facts.hidepid in NOTHING_HIDDEN:
        return make_check(about, "ok", "/proc hides nothing.")
    finding = f"/proc is mounted with hidepid={facts.hidepid}."
    if facts.capabilities is not None and CAP_SYS_PTRACE in facts.capabilities:
        return make_check(about, "ok", f"{finding} CAP_SYS_PTRACE sees everything.")
    return make_check(
        about,
        "limited",
        finding,
        "Processes of other users are hidden and cannot be attached to.",
        grant(facts, "CAP_SYS_PTRACE"),
    )


def go_symbols(facts: Facts) -> DoctorCheck:
    """Check that the collector may read the memory of other processes."""
    about = "go-symbols", "Reading GOMAXPROCS of Go programs"
    if facts.capabilities is None:
        return make_check(
            about,
            "limited",
            "The effective capabilities cannot be read.",
            "Whether GOMAXPROCS of other processes can be read is unknown.",
        )
    fix = grant(facts, "CAP_SYS_PTRACE")
    scope = "no Yama" if facts.ptrace_scope is None else f"ptrace_scope {facts.ptrace_scope}"
    impact = "GOMAXPROCS is not shown"
    if facts.ptrace_scope == 3:
        return make_check(
            about,
            "failed",
            "kernel.yama.ptrace_scope = 3: forbidden to all until the next boot.",
            f"{impact}.",
            "Boot with kernel.yama.ptrace_scope below 3.",
        )
    if CAP_SYS_PTRACE in facts.capabilities:
        return make_check(about, "ok", f"CAP_SYS_PTRACE, {scope}")
    if facts.ptrace_scope in {1, 2}:
        return make_check(
            about, "failed", f"No CAP_SYS_PTRACE, {scope}: forbidden.", f"{impact}.", fix
        )
    return make_check(
        about,
        "limited",
        f"No CAP_SYS_PTRACE, {scope}: only processes of the same user can be read.",
        f"{impact} for Go programs of other users.",
        fix,
    )


def energy(facts: Facts) -> DoctorCheck:
    """Check that an energy counter is readable."""
    about = "energy", "Energy of the machine (RAPL)"
    finding = f"{facts.energy_found[:1].upper()}{facts.energy_found[1:]}."
    impact = "Power of the machine, energy of runs and estimates per thread are absent."
    match facts.energy_obstacle:
        case "":
            return make_check(about, "ok", finding)
        case "denied":
            # Only root, the owner, may read energy_uj (drivers/powercap).
            return make_check(
                about, "limited", finding, impact, grant(facts, "CAP_DAC_READ_SEARCH")
            )
        case "hidden":
            fix = "docker run --security-opt systempaths=unconfined …, or run it on the host"
            return make_check(about, "limited", finding, impact, fix)
        case "absent" if facts.hypervisor:
            finding = f"{finding} This is a virtual machine: only its host can measure energy."
            return make_check(about, "limited", finding, impact)
        case "absent":
            return make_check(
                about, "limited", finding, impact, as_root(facts, "modprobe intel_rapl_msr")
            )
        case _:
            return make_check(about, "limited", finding, impact)


def clock_source(facts: Facts) -> DoctorCheck:
    """Check that reading the clock is cheap."""
    about = "clock-source", "Clock source"
    if facts.clock_source is None:
        return make_check(
            about,
            "limited",
            "The clock source cannot be read.",
            "Whether reading the clock is cheap is unknown.",
        )
    if facts.clock_source in _CHEAP_CLOCKS:
        return make_check(about, "ok", facts.clock_source)
    return make_check(
        about,
        "limited",
        f"{facts.clock_source}: each reading of the clock is a system call or slower.",
        "Slightly higher overhead of sampling.",
        "Boot with clocksource=tsc, if the machine's TSC is stable.",
    )


def transactions(facts: Facts) -> DoctorCheck:
    """Report hardware transactional memory; tidscope does not need it."""
    about = "transactional-memory", "Hardware transactional memory"
    if facts.transactions is None:
        return make_check(about, "ok", "Unknown: /proc/cpuinfo lists no flags of x86.")
    if not facts.transactions:
        return make_check(
            about,
            "ok",
            "Absent (no rtm): locks cannot be elided; tidscope locks suggests other changes.",
        )
    finding = "Present (rtm): locks could be elided."
    if facts.async_abort is not None:
        finding += f" TSX async abort: {facts.async_abort}."
    return make_check(about, "ok", finding)


def confinement(found: Confinement) -> DoctorCheck:
    """Check that the collector has given up the rights that it does not need."""
    about = "confinement", "Confinement of the collector"
    kept = ", ".join(sorted(capability_name(number) for number in found.kept)) or "none"
    finding = f"Capabilities kept: {kept}."
    if found.landlock_abi:
        finding += f" Landlock: ABI {found.landlock_abi}."
    if not found.gaps:
        return make_check(about, "ok", finding)
    return make_check(
        about,
        "limited",
        f"{finding} Not confined: {' '.join(found.gaps)}",
        "Who takes the collector over, through a flaw in it, can do more than it needs.",
        found.fix,
    )


def thread_names(facts: Facts) -> DoctorCheck:
    """Check that programs of other users can be asked for thread names, where asking is allowed."""
    about = "thread-names", "Names of threads beyond 15 bytes"
    finding = (
        "Names that Go programs and titles give are read. With --ask-programs an attached Java "
        "virtual machine is asked for its own, as jcmd does: it starts its thread Attach Listener, "
        "and stops all others for some milliseconds."
    )
    if facts.capabilities is None or {CAP_KILL, CAP_DAC_OVERRIDE} <= facts.capabilities:
        return make_check(about, "ok", finding)
    return make_check(
        about,
        "limited",
        finding,
        "Of Java programs of other users only those are asked whose attach socket is open, and "
        "only as root.",
        grant(facts, "CAP_KILL", "CAP_DAC_OVERRIDE"),
    )


def process_reader(trouble: str) -> DoctorCheck:
    """Check that files and memory of other processes are readable; `trouble` says why not."""
    about = "process-reader", "Reader of other processes"
    if not trouble:
        return make_check(about, "ok", "It answers.")
    return make_check(
        about,
        "limited",
        trouble,
        "Of processes attached from now on, runtime, ports and GOMAXPROCS are unknown, and agents "
        "are not found. Sampling goes on.",
        "Restart the collector: a confined one may start no programs.",
    )


def left_programs(facts: Facts, left: Sequence[LeftChanged]) -> DoctorCheck:
    """Check that no killed collector left a program's CPU affinity changed."""
    about = "left-programs", "Programs that a killed collector left changed"
    if not left:
        return make_check(about, "ok", "None.")
    names = ", ".join(f"{one.name} ({one.pid})" for one in left[:MAX_LISTED])
    more = f" and {len(left) - MAX_LISTED} more" if len(left) > MAX_LISTED else ""
    return make_check(
        about,
        "limited",
        f"CPU affinity is still as policies set it: {names}{more}.",
        "These programs run on fewer CPUs than they may. A collector restores them at its start.",
        "; ".join(as_root(facts, one.undo) for one in left[:MAX_LISTED]),
    )


def kernel_version(release: str) -> tuple[int, int] | None:
    """Return major and minor number of a release such as 6.18.44-amd64, or None."""
    match = re.match(r"(\d+)\.(\d+)", release)
    return (int(match[1]), int(match[2])) if match else None
