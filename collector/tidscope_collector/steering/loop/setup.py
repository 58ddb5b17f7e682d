"""Opening of knobs and signals for a target."""

import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tidscope_policies.sweep.sweep import LINES
from tidscope_wire.generated.models import (
    KnobKind,
    KnobOption,
    PrometheusCounter,
    RestoredProgram,
    SignalKind,
    SignalOption,
)

from tidscope_collector.agent.client import AgentClient, AgentClientError, find_socket, open_agent
from tidscope_collector.inspection.agent_sockets import SocketId
from tidscope_collector.inspection.own_server import OwnedPort
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.procfs.process import parse_stat
from tidscope_collector.steering.loop.affinity_leases import DIRECTORY, LeaseFolderError, Leases
from tidscope_collector.steering.loop.cpu_masks import CpuShares
from tidscope_collector.steering.loop.go_affinity import open_go_affinity
from tidscope_collector.steering.loop.knob import AgentKnob, Knob, KnobError, KnobRefusedError
from tidscope_collector.steering.loop.loop_inputs import ControlSetup
from tidscope_collector.steering.loop.signals import (
    FIELDS,
    NOTES,
    PROXIES,
    AgentSignal,
    NetworkSignal,
    PrometheusSignal,
    ResponseTimes,
    Signal,
    SignalLostError,
    SignalRefusedError,
    Totals,
)
from tidscope_collector.steering.loop.trial import keeping_line

log = logging.getLogger("tidscope.steering")

KNOBS: tuple[KnobKind, ...] = ("go-agent", "pool-agent", "go-affinity")
SIGNALS: tuple[SignalKind, ...] = (
    "agent-ops",
    "queue-wait",
    "prometheus",
    "network-calls",
    "network-bytes",
)
MAX_RESTORED = 64
ASK_FOR_PROMETHEUS = "Give the port and path of the target's metrics, and the name of a counter."


@dataclass(frozen=True)
class SteeredProcess:
    """The process behind a target, for opening knobs and signals.

    Attributes:
        pid: process ID.
        start_ticks: start time, because the ID may be recycled.
        fields: fields in its samples.
        ports: lists the TCP ports on which it currently listens.
        owned_port: returns a check that a port belongs only to this process.
        totals: returns sums over its threads.
    """

    pid: int
    start_ticks: int
    fields: frozenset[str]
    ports: Callable[[], frozenset[int]]
    owned_port: Callable[[int], OwnedPort]
    totals: Totals


class SetupOpener:
    """Opens knobs and signals.

    Args:
        procfs: root of /proc.
        leases: recovered leases of affinities, or why no affinity may be changed.
    """

    def __init__(self, procfs: ProcFs, leases: Leases | str) -> None:
        self._procfs = procfs
        self._leases = leases
        self._shares = CpuShares()

    def open(
        self,
        process: SteeredProcess,
        knob: KnobKind | None,
        signal: SignalKind | None,
        counter: PrometheusCounter | None,
        *,
        waits: bool,
    ) -> ControlSetup:
        """Open a knob and a signal.

        Args:
            process: target process.
            knob: kind of knob, or None for the best.
            signal: kind of signal, or None for the best.
            counter: counter of a prometheus signal.
            waits: True if the policy steers on job wait times.

        Raises:
            KnobError: the knob cannot be used.
            SignalRefusedError, SignalLostError: the signal cannot be used, or not be read now.
        """
        client, why = self._agent(process)
        try:
            turned = self._knob(process, knob, client, why)
        except BaseException:
            if client is not None:
                client.close()
            raise
        try:
            chosen = signal or _best(client, counter, waits=waits)
            found = _signal(process, chosen, client, why, counter)
        except BaseException:
            turned.close()
            if client is not None:
                client.close()
            raise
        if client is None:
            return ControlSetup(turned, found, keeps=LINES["go"])
        kind, hello = turned.describe().kind, client.hello
        keeps = (kind == "pool-agent" and hello.line) or keeping_line(kind, hello.runtime)
        if not isinstance(turned, AgentKnob):
            # The knob does not close the client, and the signal may read through it.
            turned = _KnobWithAgent(turned, client)
        return ControlSetup(turned, found, client.restart_requested, keeps, ResponseTimes(client))

    def exchange(
        self,
        process: SteeredProcess,
        held: ControlSetup,
        knob: KnobKind | None,
        signal: SignalKind | None,
        counter: PrometheusCounter | None,
        *,
        waits: bool,
    ) -> ControlSetup:
        """Open the setup for another policy, reusing as much as possible of the current one.

        Args:
            process: target process.
            held: knob and signal in use, which are not changed.
            knob: kind of knob, or None for the one in use.
            signal: kind of signal; None for the one in use, if the policy can steer on it.
            counter: another counter of a prometheus signal, or None for the one in use.
            waits: True if the policy steers on job wait times.

        Raises:
            KnobError, SignalRefusedError, SignalLostError: as for `open`.
        """
        if knob not in (None, held.knob.describe().kind):
            return self.open(process, knob, signal, counter, waits=waits)
        now = held.signal.kind
        fitting = "queue-wait" if waits else ("agent-ops" if now == "queue-wait" else now)
        wanted = signal or fitting
        if wanted == now and (now != "prometheus" or counter is None):
            return held
        if wanted not in ("agent-ops", "queue-wait"):
            return held.measured_by(_signal(process, wanted, None, "", counter))
        client, why = self._agent(process)
        try:
            found = _signal(process, wanted, client, why, counter)
        except BaseException:
            if client is not None:
                client.close()
            raise
        return held.measured_by(_SignalWithAgent(found, client))

    def agent_socket(self, process: SteeredProcess) -> SocketId | None:
        """Return the socket file of a process' agent, or None."""
        return find_socket(process.pid, process.start_ticks)

    def knobs(self, process: SteeredProcess) -> list[KnobOption]:
        """Return the knobs of a process, best first."""
        client, why = self._agent(process)
        agent = None
        if client is not None:
            agent = AgentKnob(client).describe().kind
        options: list[KnobOption] = []
        for kind in KNOBS:
            if kind == "go-affinity":
                options.append(_option(kind, lambda: self._affinity(process)))
            elif client is not None and kind == agent:
                size = client.hello
                options.append(
                    KnobOption(
                        kind=kind, refusal="", lower=size.lower, upper=size.upper, size=size.size
                    )
                )
            else:
                refusal = why if client is None else f"The agent in the program is a {agent}."
                options.append(
                    KnobOption(kind=kind, refusal=refusal, lower=None, upper=None, size=None)
                )
        if client is not None:
            client.close()
        return options

    def signals(self, process: SteeredProcess) -> list[SignalOption]:
        """Return the signals of a process, best first."""
        client, why = self._agent(process)
        options: list[SignalOption] = []
        for kind in SIGNALS:
            refusal = ""
            if kind == "prometheus":
                refusal = "" if process.ports() else "The target does not listen on a port."
            elif kind in ("network-calls", "network-bytes"):
                refusal = _network_refusal(process, kind)
            else:
                try:
                    _signal(process, kind, client, why, None).close()
                except (SignalRefusedError, SignalLostError) as error:
                    refusal = str(error)
            options.append(
                SignalOption(kind=kind, proxy=kind in PROXIES, refusal=refusal, note=NOTES[kind])
            )
        if client is not None:
            client.close()
        return options

    def _agent(self, process: SteeredProcess) -> tuple[AgentClient | None, str]:
        try:
            client = open_agent(self._procfs, process.pid, process.start_ticks)
        except AgentClientError as error:
            return None, str(error)
        if client.hello.knob == "none":
            client.close()
            return None, "The agent in the program reports its pools only; it sets no size."
        return client, ""

    def _knob(
        self, process: SteeredProcess, kind: KnobKind | None, client: AgentClient | None, why: str
    ) -> Knob:
        if kind != "go-affinity" and client is not None:
            knob = AgentKnob(client)
            found = knob.describe().kind
            if kind is None or kind == found:
                return knob
            raise KnobRefusedError(f"The agent in the program is a {found}, not a {kind}.")
        if kind in ("go-agent", "pool-agent"):
            raise KnobRefusedError(why)
        try:
            return self._affinity(process)
        except KnobError as error:
            if kind is None:
                raise KnobRefusedError(f"{why} {error}") from error
            raise

    def _affinity(self, process: SteeredProcess) -> Knob:
        if isinstance(self._leases, str):
            raise KnobRefusedError(self._leases)
        return open_go_affinity(
            self._procfs, process.pid, process.start_ticks, self._leases, self._shares
        )


def open_setup_opener(
    procfs: ProcFs, directory: Path = DIRECTORY
) -> tuple[SetupOpener, tuple[RestoredProgram, ...]]:
    """Restore affinities that a killed collector left changed, then return the opener.

    Returns:
        The opener, and the restored programs.
    """
    try:
        leases = Leases(procfs, directory)
    except LeaseFolderError as error:
        return SetupOpener(procfs, str(error)), ()
    restored: list[RestoredProgram] = []
    for found in leases.recover():
        try:
            name = parse_stat(procfs.read(f"{found.pid}/stat")).name.decode(errors="replace")
        except OSError:
            continue  # the program has ended, so nothing is left to restore
        restored.append(
            RestoredProgram(
                pid=found.pid, name=name, threads=found.threads, problem=found.trouble[:1024]
            )
        )
        trouble = f"; {found.trouble}" if found.trouble else ""
        log.warning(
            "restored the affinity of process %d (%d threads), which a collector left behind%s",
            found.pid,
            found.threads,
            trouble,
        )
    return SetupOpener(procfs, leases), tuple(restored[:MAX_RESTORED])


class _KnobWithAgent:
    """A knob, and an agent connection that only the signal uses."""

    def __init__(self, knob: Knob, client: AgentClient) -> None:
        self._knob, self._client = knob, client
        self.describe, self.apply, self.read = knob.describe, knob.apply, knob.read
        self.renew, self.restore = knob.renew, knob.restore

    def close(self) -> str:
        trouble = self._knob.close()
        self._client.close()
        return trouble


class _SignalWithAgent:
    """A signal with its own agent connection."""

    def __init__(self, signal: Signal, client: AgentClient | None) -> None:
        self.kind, self.read = signal.kind, signal.read
        self._client = client

    def close(self) -> None:
        if self._client is not None:
            self._client.close()


def _option(kind: KnobKind, open_knob: Callable[[], Knob]) -> KnobOption:
    try:
        knob = open_knob()
    except KnobError as error:
        return KnobOption(kind=kind, refusal=str(error)[:1024], lower=None, upper=None, size=None)
    try:
        return knob.describe().option(knob.read())
    finally:
        with suppress(KnobError):
            knob.close()


def _best(
    client: AgentClient | None,
    counter: PrometheusCounter | None,
    *,
    waits: bool,
) -> SignalKind:
    if waits:
        return "queue-wait"
    if client is not None:
        return "agent-ops"
    if counter is not None:
        return "prometheus"
    return "network-calls"


def _signal(
    process: SteeredProcess,
    kind: SignalKind,
    client: AgentClient | None,
    why: str,
    counter: PrometheusCounter | None,
) -> Signal:
    match kind:
        case "agent-ops" | "queue-wait":
            if client is None:
                raise SignalRefusedError(why)
            return AgentSignal(client, kind)
        case "prometheus":
            if counter is None:
                raise SignalRefusedError(ASK_FOR_PROMETHEUS)
            listens = process.ports()
            if counter.port not in listens:
                known = ", ".join(str(port) for port in sorted(listens)) or "none"
                raise SignalRefusedError(
                    f"The target does not listen on port {counter.port}; its ports are: {known}."
                )
            return PrometheusSignal(counter, process.owned_port(counter.port).refusal)
        case "network-calls" | "network-bytes":
            missing = _network_refusal(process, kind)
            if missing:
                raise SignalRefusedError(missing)
            signal = NetworkSignal(process.totals, kind)
            signal.read()
            return signal


def _network_refusal(
    process: SteeredProcess, kind: Literal["network-calls", "network-bytes"]
) -> str:
    if all(name in process.fields for name in FIELDS[kind]):
        return ""
    return "Network counters per thread are not available here; see Doctor."
