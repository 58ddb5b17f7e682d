"""The checks: each judges facts and gives its finding, the impact and the fix."""

import re

from tidscope_wire.generated.models import CheckStatus, DoctorCheck

from tidscope_collector.doctor.facts import CAP_NET_ADMIN, CAP_SYS_PTRACE, Facts
from tidscope_collector.doctor.probe import EbpfProbe, TaskstatsProbe

EXIT_BYTES = 2240  # of socket buffer that one queued exit takes
_BURST = 5000  # exits that should fit while the collector is busy otherwise
_BUFFER_WANTED = 64 << 20
_AS_ROOT = "sudo tidscope up"
_OLDEST = (5, 4)
_CHEAP_CLOCKS = frozenset({"tsc", "kvm-clock", "arch_sys_counter", "hyperv_clocksource_tsc_page"})
_FALLBACK = (
    "Without taskstats, threads are read from /proc: at ten times the cost and more, without "
    "delays for I/O and memory, and without the totals of threads that ended between two samples."
)


def _check(
    about: tuple[str, str],
    status: CheckStatus,
    finding: str,
    impact: str = "",
    fix: str = "",
    enabled: bool | None = None,
) -> DoctorCheck:
    name, title = about
    return DoctorCheck(
        name=name,
        title=title,
        status=status,
        finding=finding,
        impact=impact,
        fix=fix,
        enabled=enabled,
    )


def kernel(facts: Facts) -> DoctorCheck:
    """Is it a kernel that tidscope knows?"""
    about = "kernel", "Kernel release"
    version = kernel_version(facts.kernel)
    if version is None:
        return _check(
            about,
            "limited",
            f"{facts.kernel}: not the form of a Linux release.",
            "Whether tidscope supports this kernel is unknown.",
        )
    if version < _OLDEST:
        return _check(
            about,
            "limited",
            f"Linux {facts.kernel}, older than 5.4.",
            "tidscope was not tried on kernels this old.",
            "Boot a newer kernel.",
        )
    return _check(about, "ok", f"Linux {facts.kernel}")


def rights(facts: Facts) -> DoctorCheck:
    """Does this process have the capabilities that are of use?"""
    about = "capabilities", "Rights of the collector"
    if facts.capabilities is None:
        return _check(
            about,
            "limited",
            "The effective capabilities cannot be read.",
            "Whether taskstats may be used is unknown.",
        )
    admin = CAP_NET_ADMIN in facts.capabilities
    ptrace = CAP_SYS_PTRACE in facts.capabilities
    finding = (
        f"CAP_NET_ADMIN: {'yes' if admin else 'no'}, CAP_SYS_PTRACE: {'yes' if ptrace else 'no'}"
    )
    impact = []
    if not admin:
        impact.append(f"CAP_NET_ADMIN: taskstats. {_FALLBACK}")
    if not ptrace:
        impact.append(
            "CAP_SYS_PTRACE: GOMAXPROCS, executable, ports and /proc's I/O counters of processes "
            "of other users."
        )
    status: CheckStatus = "ok" if not impact else "limited" if admin else "failed"
    return _check(about, status, finding, " ".join(impact), _AS_ROOT if impact else "")


def namespaces(facts: Facts) -> DoctorCheck:
    """Is this process where the kernel sends its accounts to?"""
    about = "namespaces", "Namespaces"
    places = {
        "user": facts.namespaces.user,
        "pid": facts.namespaces.pid,
        "network": facts.namespaces.net,
    }
    losses = {
        "user": "user: CAP_NET_ADMIN counts in the initial user namespace only; taskstats refuses.",
        "pid": "pid: exit totals are refused, and only the processes of this one can be seen.",
        "network": "network: the kernel sends exit totals to the initial one only; the call "
        "succeeds, and nothing ever arrives.",
    }
    options = {
        "user": "--userns=host",
        "pid": "--pid=host",
        "network": "--network=host",
    }
    other = [kind for kind, place in places.items() if place == "other"]
    finding = ", ".join(f"{kind}: {place}" for kind, place in places.items())
    if other:
        fix = f"docker run {' '.join(options[kind] for kind in other)} … (or run it on the host)"
        return _check(about, "failed", finding, " ".join(losses[kind] for kind in other), fix)
    if "unknown" in places.values():
        return _check(
            about, "limited", finding, "Exit records may not arrive: the namespaces are unknown."
        )
    return _check(about, "ok", finding)


def taskstats(probe: TaskstatsProbe) -> DoctorCheck:
    """Does the kernel have taskstats, and does it answer?"""
    about = "taskstats", "Per-thread accounting (taskstats)"
    if probe.family_id is None:
        return _check(
            about,
            "failed",
            probe.refusal or "The kernel has no generic netlink family TASKSTATS.",
            _FALLBACK,
            "Boot a kernel with CONFIG_TASKSTATS=y (distributions' kernels have it).",
        )
    if probe.version is None or probe.length is None:
        return _check(
            about,
            "failed",
            f"Family {probe.family_id}, but no reply: {probe.refusal or 'unknown reason'}",
            _FALLBACK,
            _AS_ROOT,
        )
    return _check(about, "ok", f"Family {probe.family_id} answers.")


def layout(probe: TaskstatsProbe) -> DoctorCheck:
    """Is the struct one whose layout is known?"""
    about = "taskstats-layout", "Layout of struct taskstats"
    if probe.version is None or probe.length is None:
        return _check(
            about, "limited", "No reply to tell it from.", "See the check before this one."
        )
    finding = f"Version {probe.version}, {probe.length} bytes"
    if probe.layout_name is None:
        return _check(
            about,
            "limited",
            f"{finding}: {probe.refusal or 'not known'}",
            "Fields outside of what all versions share: they could be at another place here.",
            "Install a newer tidscope that knows this version.",
        )
    return _check(about, "ok", f"{finding}: {probe.layout_name}")


def exit_totals(probe: TaskstatsProbe) -> DoctorCheck:
    """Do the totals of a thread that ends arrive?"""
    about = "exit-totals", "Totals of ending threads"
    impact = (
        "The totals of threads that end between two samples; live and ended threads do not add "
        "up to the process."
    )
    if probe.family_id is None:
        return _check(about, "failed", "Not tried: there is no taskstats.", impact)
    try:
        arrived = probe.exit_self_test()
    except OSError as error:
        return _check(
            about, "failed", f"Listening was refused: {error.strerror}.", impact, _AS_ROOT
        )
    if arrived:
        return _check(about, "ok", "A thread was started, and its totals arrived.")
    return _check(
        about,
        "failed",
        "A thread was started and ended, and its totals did not arrive.",
        impact,
        "docker run --network=host --pid=host … (or run it on the host)",
    )


def exit_buffer(facts: Facts, probe: TaskstatsProbe) -> DoctorCheck:
    """Does a burst of exits fit into the socket's buffer?"""
    about = "exit-buffer", "Buffer for bursts of ending threads"
    limit = "unknown" if facts.rmem_max is None else f"{facts.rmem_max:,} bytes"
    granted = probe.receive_buffer_bytes
    if granted is None:
        return _check(
            about,
            "limited",
            f"No socket to try; net.core.rmem_max is {limit}.",
            "Whether a burst of exits fits is unknown.",
        )
    fits = granted // EXIT_BYTES
    finding = (
        f"{granted:,} bytes granted: about {fits:,} exits in one burst; net.core.rmem_max is "
        f"{limit}."
    )
    if fits >= _BURST:
        return _check(about, "ok", finding)
    return _check(
        about,
        "limited",
        finding,
        "Exits of a greater burst; the number lost is shown.",
        f"sudo sysctl -w net.core.rmem_max={_BUFFER_WANTED}",
    )


def delay_accounting(facts: Facts) -> DoctorCheck:
    """Does the kernel account for the time that threads wait for I/O and memory?"""
    about = "delay-accounting", "Delay accounting"
    impact = (
        "Waits for block I/O, swap-in, thrashing, reclaim, compaction, copy-on-write and "
        "interrupts. Run-queue delay is measured all the same."
    )
    if facts.task_delayacct is None:
        version = kernel_version(facts.kernel)
        if version is not None and version < (5, 14):
            return _check(
                about,
                "limited",
                "Kernels before 5.14 have no switch to read; it is on unless nodelayacct is given.",
                "Whether delays for I/O and memory are measured is unknown.",
            )
        return _check(
            about,
            "limited",
            "kernel.task_delayacct is not there: a kernel without CONFIG_TASK_DELAY_ACCT.",
            impact,
            "Boot a kernel with CONFIG_TASK_DELAY_ACCT=y.",
        )
    if facts.task_delayacct:
        return _check(
            about,
            "ok",
            "kernel.task_delayacct = 1; only threads started after it was switched on have delays.",
            enabled=True,
        )
    return _check(
        about,
        "limited",
        "kernel.task_delayacct = 0",
        f"{impact} Only threads that start after it is switched on have them: restart the target.",
        "sudo sysctl -w kernel.task_delayacct=1",
        enabled=False,
    )


def process_list(facts: Facts) -> DoctorCheck:
    """Can all processes be seen?"""
    about = "process-list", "Seeing processes and their threads"
    if not facts.schedstat:
        return _check(
            about,
            "limited",
            "/proc/PID/schedstat is not there.",
            "CPU time and run-queue delay where taskstats is not to be had.",
            "Boot a kernel with CONFIG_SCHED_INFO=y.",
        )
    if facts.hidepid is None:
        return _check(
            about,
            "limited",
            "How /proc is mounted cannot be read.",
            "Whether /proc hides processes of other users is unknown.",
        )
    if facts.hidepid in {"0", "off"}:
        return _check(about, "ok", "/proc hides nothing.")
    finding = f"/proc is mounted with hidepid={facts.hidepid}."
    if facts.capabilities is not None and CAP_SYS_PTRACE in facts.capabilities:
        return _check(about, "ok", f"{finding} CAP_SYS_PTRACE sees all the same.")
    return _check(
        about,
        "limited",
        finding,
        "Processes of other users: they cannot be attached to.",
        "sudo mount -o remount,hidepid=0 /proc",
    )


def go_symbols(facts: Facts) -> DoctorCheck:
    """May the memory of other processes be read?"""
    about = "go-symbols", "Reading GOMAXPROCS of Go programs"
    if facts.capabilities is None:
        return _check(
            about,
            "limited",
            "The effective capabilities cannot be read.",
            "Whether GOMAXPROCS of other processes can be read is unknown.",
        )
    scope = "no Yama" if facts.ptrace_scope is None else f"ptrace_scope {facts.ptrace_scope}"
    impact = "GOMAXPROCS of Go programs"
    if facts.ptrace_scope == 3:
        return _check(
            about,
            "failed",
            "kernel.yama.ptrace_scope = 3: nobody may, until the next boot.",
            f"{impact}.",
            "Boot with kernel.yama.ptrace_scope below 3.",
        )
    if CAP_SYS_PTRACE in facts.capabilities:
        return _check(about, "ok", f"CAP_SYS_PTRACE, {scope}")
    if facts.ptrace_scope in {1, 2}:
        return _check(
            about, "failed", f"No CAP_SYS_PTRACE, {scope}: it may not.", f"{impact}.", _AS_ROOT
        )
    return _check(
        about,
        "limited",
        f"No CAP_SYS_PTRACE, {scope}: of processes of the same user only.",
        f"{impact} that run as other users.",
        _AS_ROOT,
    )


def network(probe: TaskstatsProbe, ebpf: EbpfProbe) -> DoctorCheck:
    """Is there a source of network bytes for each thread?"""
    about = "network-per-thread", "Network bytes of each thread"
    if "net_read_bytes" in probe.fields:
        return _check(about, "ok", "struct taskstats of this kernel has them.")
    if not ebpf.refusal:
        finding = "eBPF: the program was loaded, and taken out again."
        return _check(
            about, "ok", f"{finding} Not counted: {ebpf.limits}." if ebpf.limits else finding
        )
    return _check(
        about,
        "limited",
        f"A stock kernel, whose struct taskstats has no network fields, and no eBPF: "
        f"{ebpf.refusal}.",
        "Bytes and calls that each thread moves over the network.",
        ebpf.mend,
    )


def task_iterator(ebpf: EbpfProbe) -> DoctorCheck:
    """Is it known which threads have run, so that the others need not be asked?"""
    about = "task-iterator", "Sampling only threads that ran"
    if not ebpf.refusal:
        return _check(about, "ok", "eBPF: the task iterator was loaded, and taken out again.")
    return _check(
        about,
        "limited",
        f"No eBPF: {ebpf.refusal}.",
        "Nothing but CPU time: each sample asks for every thread, also for those that sleep.",
        ebpf.mend,
    )


def energy(facts: Facts) -> DoctorCheck:
    """Is there a counter of energy that may be read?"""
    about = "energy", "Energy of the machine (RAPL)"
    finding = f"{facts.energy_found[:1].upper()}{facts.energy_found[1:]}."
    impact = "Watts of the machine, energy of runs, and estimates for threads."
    match facts.energy_obstacle:
        case "":
            return _check(about, "ok", finding)
        case "denied":
            return _check(about, "limited", finding, impact, _AS_ROOT)
        case "hidden":
            fix = "docker run --security-opt systempaths=unconfined … (or run it on the host)"
            return _check(about, "limited", finding, impact, fix)
        case "absent" if facts.hypervisor:
            finding = f"{finding} This is a virtual machine: only its host can count energy."
            return _check(about, "limited", finding, impact)
        case "absent":
            return _check(about, "limited", finding, impact, "sudo modprobe intel_rapl_msr")
        case _:
            return _check(about, "limited", finding, impact)


def clock_source(facts: Facts) -> DoctorCheck:
    """Is it cheap to ask what time it is?"""
    about = "clock-source", "Clock source"
    if facts.clock_source is None:
        return _check(
            about,
            "limited",
            "The clock source cannot be read.",
            "Whether reading the clock is cheap is unknown.",
        )
    if facts.clock_source in _CHEAP_CLOCKS:
        return _check(about, "ok", facts.clock_source)
    return _check(
        about,
        "limited",
        f"{facts.clock_source}: each look at the clock is a system call or slower.",
        "Some of the sampler's small overhead.",
        "Boot with clocksource=tsc, if the machine's TSC is stable.",
    )


def kernel_version(release: str) -> tuple[int, int] | None:
    """Major and minor number of a release such as 6.18.44-amd64."""
    match = re.match(r"(\d+)\.(\d+)", release)
    return (int(match[1]), int(match[2])) if match else None
