"""Programs of a group under one policy: one action steers all, each with its own loop."""

import logging
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

from tidscope_wire.generated.models import (
    ProgramChoice,
    ProgramOptions,
    SteeringOptions,
    SteerRequest,
)

from tidscope_collector.steering.plan import (
    BadParameterError,
    NotSteerableError,
    NotSteeredError,
    PreparedSteering,
    TooManyActionsError,
)
from tidscope_collector.steering.service import SteeringService, SteeringTarget

log = logging.getLogger("tidscope.steering")

MAX_EXAMINED = 128
"""Maximum processes of a group that are examined, at some milliseconds each."""

MAX_STEERED = 64
"""Maximum steered programs of a group."""

AT_ONCE = 8

ROUND_S = 2.0

TRIES = 5
"""Attempts to find a program's agent, which may start later than the program."""

MAX_PER_ROUND = 32
"""Maximum programs tried per round; a group may start thousands per minute."""


@dataclass(frozen=True)
class Program:
    """A process of a group.

    Attributes:
        pid: process ID.
        start_ticks: start time, which distinguishes it from a later process with the same ID.
        name: name of the process (comm).
    """

    pid: int
    start_ticks: int
    name: str

    def __str__(self) -> str:
        return f"{self.name} ({self.pid})"


def program_key(target: str, pid: int) -> str:
    """Return the key of a group's program as a steered target."""
    return f"{target}/{pid}"


class SteeringGroups:
    """Steers the programs of groups. Methods block. Thread-safe.

    Args:
        service: runs a loop for each program.
        members: lists the living processes of a target, oldest first.
        steered: returns the service's target for a program.
    """

    def __init__(
        self,
        service: SteeringService,
        members: Callable[[str], list[Program]],
        steered: Callable[[str, Program], SteeringTarget],
    ) -> None:
        self._service, self._members, self._steered = service, members, steered

    def options(self, target: str) -> SteeringOptions:
        """Return the ways in which the programs of a group can be, and are, steered."""
        return self.examine(self._members(target), partial(self._steered, target))

    def examine(
        self, programs: Sequence[Program], steered: Callable[[Program], SteeringTarget]
    ) -> SteeringOptions:
        """Return the ways in which some programs can be, and are, steered; steerable ones first."""

        def examine_one(program: Program) -> ProgramOptions:
            options = self._service.options(steered(program))
            refusal = refusal_of(options)
            return ProgramOptions(
                pid=program.pid,
                start_ticks=program.start_ticks,
                name=program.name,
                refusal=refusal[:1024],
                knobs=[] if refusal else options.knobs,
                signals=[] if refusal else options.signals,
                steering=options.steering,
            )

        # Steered programs must be included.
        ranked = sorted(programs, key=lambda one: self._service.current(steered(one).id) is None)
        with ThreadPoolExecutor(AT_ONCE, "examine") as workers:
            found = list(workers.map(examine_one, ranked[:MAX_EXAMINED]))
        found.sort(key=lambda one: one.refusal != "")
        return SteeringOptions(
            knobs=[],
            signals=[],
            steering=None,
            programs=found,
            unexamined=max(0, len(programs) - MAX_EXAMINED),
        )

    def steer(self, target: str, request: SteerRequest, actor: str) -> list[Program]:
        """Steer the chosen programs and release others, or change nothing.

        Returns:
            The steered programs.

        Raises:
            BadParameterError: a policy, parameter or bound is invalid, or a program is listed
                twice.
            NotSteerableError: a chosen program cannot be steered, or none of all can.
            TooManyActionsError: actions follow each other too fast.
        """
        if request.proof is not None:
            raise BadParameterError("a proof is of one program: attach to it, and prove there")
        if request.sweep is not None:
            raise BadParameterError("a sweep is of one program: attach to it, and sweep there")
        with self._service.exclusive(target):
            programs = {one.pid: one for one in self._members(target)}
            choices = request.programs
            if choices is None:
                choices = self._steerable(target)
            if not choices:
                raise BadParameterError("no program is chosen")
            chosen = [(_find(programs, choice.pid), choice) for choice in choices]
            if len({program.pid for program, _ in chosen}) != len(chosen):
                raise BadParameterError("a program is named twice")
            if len(chosen) > MAX_STEERED:
                raise BadParameterError(
                    f"{len(chosen)} programs are more than the {MAX_STEERED} that may be steered"
                )
            for prepared in self._prepare(target, chosen, request, actor):
                prepared.commit()
            kept = {program_key(target, program.pid) for program, _ in chosen}
            left = [key for key in self._service.steered(target) if key not in kept]
            self._service.release_all(left, actor)
        return [program for program, _ in chosen]

    def join(
        self,
        target: str,
        program: Program,
        request: SteerRequest,
        actor: str,
        wanted: Callable[[], bool],
    ) -> None:
        """Steer one more program like the others, unless all were released meanwhile.

        Raises as `steer`; `wanted` returns False once no program may join.
        """
        with self._service.exclusive(target):
            if not wanted():
                raise NotSteerableError("Programs of the group no longer join.")
            if len(self._service.steered(target)) >= MAX_STEERED:
                raise NotSteerableError(f"{MAX_STEERED} programs are steered.")
            one = request_for(request, ProgramChoice(pid=program.pid))
            self._service.steer(self._steered(target, program), one, actor)
            if not wanted():
                # A concurrent release did not know the program yet, so it is released here.
                self._service.release_all([program_key(target, program.pid)], actor)

    def keys(self, target: str, pid: int | None) -> list[str]:
        """Return keys of the steered programs, one or all.

        Raises:
            NotSteeredError: no program is steered.
        """
        keys = self._service.steered(target)
        if pid is not None:
            keys = [key for key in keys if key == program_key(target, pid)]
        if not keys:
            raise NotSteeredError
        return keys

    def _steerable(self, target: str) -> list[ProgramChoice]:
        found = self.options(target).programs or []
        able = [ProgramChoice(pid=one.pid) for one in found if not one.refusal]
        if not able:
            first = f" {found[0].name} ({found[0].pid}): {found[0].refusal}" if found else ""
            raise NotSteerableError(f"None of the group's programs can be steered.{first}")
        return able[:MAX_STEERED]

    def _prepare(
        self,
        target: str,
        chosen: Sequence[tuple[Program, ProgramChoice]],
        request: SteerRequest,
        actor: str,
    ) -> list[PreparedSteering]:
        """Prepare all programs, or none."""

        def prepare(one: tuple[Program, ProgramChoice]) -> PreparedSteering | Exception:
            program, choice = one
            steered = self._steered(target, program)
            try:
                return self._service.prepare(steered, request_for(request, choice), actor)
            except Exception as error:
                return error

        with ThreadPoolExecutor(AT_ONCE, "prepare") as workers:
            done = list(workers.map(prepare, chosen))
        ready = [one for one in done if isinstance(one, PreparedSteering)]
        for (program, _), one in zip(chosen, done, strict=True):
            if isinstance(one, Exception):
                for prepared in ready:
                    prepared.abort()
                if isinstance(one, NotSteerableError | BadParameterError):
                    raise type(one)(f"{program}: {one}") from one
                raise one
        return ready


def request_for(request: SteerRequest, choice: ProgramChoice) -> SteerRequest:
    """Return the request for one program: its own options override those of the group."""
    own = choice.model_dump(exclude={"pid"}, exclude_none=True)
    return request.model_copy(
        update={"programs": None, "join": None} | {name: getattr(choice, name) for name in own}
    )


def refusal_of(options: SteeringOptions) -> str:
    """Return why a program cannot be steered; empty if it can."""
    if options.knobs and all(one.refusal for one in options.knobs):
        # The agent's two knobs share one refusal.
        return " ".join(dict.fromkeys(one.refusal for one in options.knobs))
    if options.signals and all(one.refusal for one in options.signals):
        return " ".join(dict.fromkeys(one.refusal for one in options.signals))
    return ""


def _find(programs: dict[int, Program], pid: int) -> Program:
    found = programs.get(pid)
    if found is None:
        raise NotSteerableError(f"Process {pid} is not in the group, or has ended.")
    return found


@dataclass
class _Tried:
    """A program that may become steerable.

    Attributes:
        tries: number of failed attempts.
        due: round of the next attempt.
    """

    tries: int
    due: int


class Joining:
    """Steers new programs of a group like the steered ones, until the group has ended.

    Args:
        members: lists the group's living processes; None if it has ended.
        join: steers a program; raises as the service does.
        round_s: interval between rounds, in seconds.
    """

    def __init__(
        self,
        members: Callable[[], list[Program] | None],
        join: Callable[[Program], None],
        round_s: float = ROUND_S,
    ) -> None:
        self._members, self._join, self._round_s = members, join, round_s
        self._known: dict[tuple[int, int], _Tried | None] = {
            (one.pid, one.start_ticks): None for one in members() or ()
        }
        self._rounds = 0
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="joining", daemon=True)

    def start(self) -> None:
        """Start. Programs that exist already do not join."""
        self._thread.start()

    def stop(self) -> None:
        """Stop, without waiting."""
        self._stopped.set()

    def _run(self) -> None:
        while not self._stopped.wait(self._round_s):
            try:
                if not self.try_round():
                    return
            except Exception:
                log.exception("new programs cannot be looked for")

    def try_round(self) -> bool:
        """Try programs that are new or due for another attempt.

        Returns:
            False if no more programs can join.
        """
        members = self._members()
        if members is None:
            return False
        self._rounds += 1
        living = {(one.pid, one.start_ticks): one for one in members}
        self._known = {key: tried for key, tried in self._known.items() if key in living}
        room = MAX_PER_ROUND
        for key, program in living.items():
            if key not in self._known:
                # The first attempt is delayed: most new programs end soon, or open their agent
                # later.
                self._known[key] = _Tried(0, self._rounds + 1)
                continue
            tried = self._known[key]
            if tried is None or tried.due > self._rounds or room == 0:
                continue
            room -= 1
            if self._stopped.is_set():
                return False
            try:
                self._join(program)
                self._known[key] = None
            except (NotSteerableError, BadParameterError, TooManyActionsError) as error:
                tried.tries += 1
                tried.due = self._rounds + 2**tried.tries
                if tried.tries == TRIES:
                    self._known[key] = None
                    log.info("%s does not join: %s", program, error)
        return True
