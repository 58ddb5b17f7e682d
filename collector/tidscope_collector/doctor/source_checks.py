"""Checks of sources of samples: taskstats, exit records, network counters, bulk reads, ledgers."""

from collections.abc import Sequence

from tidscope_wire.generated.models import DoctorCheck

from tidscope_collector.doctor.check import (
    MAX_LISTED,
    PROC_FALLBACK,
    EbpfProbe,
    TaskstatsProbe,
    as_root,
    grant,
    make_check,
    reach_taskstats,
)
from tidscope_collector.doctor.facts import Facts
from tidscope_collector.ebpf.obstacles import Obstacle

EXIT_BYTES = 2240  # of socket buffer per queued exit record
_BURST = 5000  # exit records that should fit while the collector is busy
_BUFFER_WANTED = 64 << 20


def taskstats(facts: Facts, probe: TaskstatsProbe) -> DoctorCheck:
    """Check that the kernel has taskstats and that it answers."""
    about = "taskstats", "Per-thread accounting (taskstats)"
    if probe.family_id is None:
        return make_check(
            about,
            "failed",
            probe.refusal or "The kernel has no generic netlink family TASKSTATS.",
            PROC_FALLBACK,
            "Boot a kernel with CONFIG_TASKSTATS=y, as distribution kernels have.",
        )
    if probe.version is None or probe.length is None:
        return make_check(
            about,
            "failed",
            f"Family {probe.family_id}, but no reply: {probe.refusal or 'unknown reason'}.",
            PROC_FALLBACK,
            reach_taskstats(facts),
        )
    return make_check(about, "ok", f"Family {probe.family_id} answers.")


def layout(probe: TaskstatsProbe) -> DoctorCheck:
    """Check that tidscope knows the layout of the struct."""
    about = "taskstats-layout", "Layout of struct taskstats"
    if probe.version is None or probe.length is None:
        return make_check(
            about, "limited", "Unknown: taskstats does not answer.", "See the check before this."
        )
    finding = f"Version {probe.version}, {probe.length} bytes"
    if probe.layout_name is None:
        return make_check(
            about,
            "failed",
            f"{finding}: {probe.refusal or 'unknown'}.",
            PROC_FALLBACK,
            "Install a newer tidscope, if there is one that knows this version.",
        )
    return make_check(about, "ok", f"{finding}: {probe.layout_name}")


def exit_records(facts: Facts, probe: TaskstatsProbe) -> DoctorCheck:
    """Check that the exit record of a thread arrives."""
    about = "exit-records", "Exit records of threads"
    impact = (
        "What threads used between their last sample and their end is lost; live and exited "
        "threads do not add up to the process."
    )
    fix = reach_taskstats(facts)
    if probe.family_id is None:
        return make_check(about, "failed", "Not tested: there is no taskstats.", impact)
    if probe.version is None or probe.layout_name is None:
        return make_check(about, "failed", "Not tested: taskstats cannot be used.", impact, fix)
    try:
        arrived = probe.exit_self_test()
    except OSError as error:
        refused = f"The kernel refused the listener: {error.strerror or error}."
        return make_check(about, "failed", refused, impact, fix)
    if arrived:
        return make_check(about, "ok", "A test thread exited, and its record arrived.")
    return make_check(
        about, "failed", "A test thread exited, and its record did not arrive.", impact, fix
    )


def exit_buffer(facts: Facts, probe: TaskstatsProbe) -> DoctorCheck:
    """Check that a burst of exit records fits into the socket buffer."""
    about = "exit-buffer", "Buffer for bursts of exit records"
    limit = "unknown" if facts.rmem_max is None else f"{facts.rmem_max:,} bytes"
    granted = probe.receive_buffer_bytes
    if granted is None:
        return make_check(
            about,
            "limited",
            f"No socket to test; net.core.rmem_max is {limit}.",
            "Whether a burst of exit records fits is unknown.",
        )
    fits = granted // EXIT_BYTES
    finding = (
        f"{granted:,} bytes granted: about {fits:,} exit records in one burst; net.core.rmem_max "
        f"is {limit}."
    )
    if fits >= _BURST:
        return make_check(about, "ok", finding)
    return make_check(
        about,
        "limited",
        finding,
        "Larger bursts lose exit records; the number lost is shown.",
        # With CAP_NET_ADMIN the buffer may exceed the limit (SO_RCVBUFFORCE, socket(7)).
        reach_taskstats(facts) or as_root(facts, f"sysctl -w net.core.rmem_max={_BUFFER_WANTED}"),
    )


def network(facts: Facts, probe: TaskstatsProbe, ebpf: EbpfProbe) -> DoctorCheck:
    """Check that a source of network bytes per thread exists."""
    about = "network-per-thread", "Network bytes per thread"
    if "net_read_bytes" in probe.fields:
        return make_check(about, "ok", "The kernel's struct taskstats has them.")
    if not ebpf.refusal:
        finding = "eBPF: a test load of the program succeeded."
        return make_check(
            about, "ok", f"{finding} Not counted: {ebpf.limits}." if ebpf.limits else finding
        )
    return make_check(
        about,
        "limited",
        f"The kernel's struct taskstats has no network fields, and eBPF is unavailable: "
        f"{ebpf.refusal}.",
        "Network bytes and calls per thread are absent.",
        _ebpf_fix(facts, ebpf),
    )


def walk(facts: Facts, ebpf: EbpfProbe) -> DoctorCheck:
    """Check that all counters can be read in one bulk read."""
    about = "walk", "Counters in one walk"
    if not ebpf.refusal:
        return make_check(
            about, "ok", "eBPF: a walk of this process agreed with taskstats, field by field."
        )
    return make_check(
        about,
        "limited",
        f"Counters are not walked: {ebpf.refusal}.",
        "Higher overhead, same values: each sample asks for every thread by a request.",
        _ebpf_fix(facts, ebpf),
    )


def ledger(facts: Facts, ebpf: EbpfProbe, lock_troubles: Sequence[str] = ()) -> DoctorCheck:
    """Check that waits of threads are recorded and that locks have names.

    Args:
        facts: facts about the machine.
        ebpf: result of loading the ledger program.
        lock_troubles: why locks of attached programs cannot be read or named.
    """
    about = "ledger", "What threads wait for"
    if not ebpf.refusal:
        finding = "eBPF: a test load of the program that keeps a ledger of states succeeded."
        if lock_troubles:
            return make_check(
                about,
                "limited",
                f"{finding} Of attached programs: {_listed(lock_troubles)}.",
                "Their waits for locks are counted; which locks these are is not known, or not all "
                "that the programs know of them.",
                "Let the collector read the programs' memory as root, or leave --ask-programs out "
                "for programs that serve nothing.",
            )
        return make_check(about, "ok", finding)
    return make_check(
        about,
        "limited",
        f"No ledger of states is kept: {ebpf.refusal}.",
        "Where the time goes is known by CPU, run queue and block I/O only: no locks, no sockets, "
        "no sleep, and nobody who wakes a thread.",
        _ebpf_fix(facts, ebpf),
    )


def stacks(found: Obstacle | str) -> DoctorCheck:
    """Check that stacks can be taken.

    Args:
        found: how they are taken, one sentence, or why they are not.
    """
    about = "stacks", "Which line of code"
    if isinstance(found, str):
        return make_check(about, "ok", found)
    return make_check(
        about,
        "limited",
        f"No stacks can be taken: {found.reason}.",
        "Where in the code threads wait, run and release each other is not known.",
        found.fix,
    )


def _listed(troubles: Sequence[str]) -> str:
    shown = "; ".join(one.rstrip(".") for one in troubles[:MAX_LISTED])
    more = len(troubles) - MAX_LISTED
    return f"{shown}; and {more} more" if more > 0 else shown


def _ebpf_fix(facts: Facts, ebpf: EbpfProbe) -> str:
    if ebpf.capabilities:
        return grant(facts, *ebpf.capabilities)
    return ebpf.fix.replace("sudo ", "") if facts.is_root else ebpf.fix
