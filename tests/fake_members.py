"""Members of a group that a test adds and ends, as the native sampler would tell of them."""

from dataclasses import replace

from tidscope_collector.groups.members import Member, Members, Newcomer


class FakeMembers(Members):
    """See `Members`; a test says who comes and goes."""

    def __init__(self) -> None:
        super().__init__()
        self._last = 0
        self._all: dict[int, Member] = {}

    def add(self, newcomer: Newcomer, *, at_attach: bool = False) -> Member:
        """A process comes into the group."""
        self._last += 1
        parent = self.alive.get(newcomer.parent)
        member = Member(
            self._last,
            0 if parent is None else parent.number,
            newcomer.pid,
            newcomer.start_ns,
            newcomer.start_ticks,
            newcomer.name,
            newcomer.uid,
            before=at_attach,
        )
        self._all[member.number] = member
        self._tell()
        return member

    def end(self, pid: int, at_ns: int, _now_ns: int = 0) -> None:
        """A process ends."""
        member = self.alive[pid]
        self._all[member.number] = replace(member, ended_ns=at_ns)
        self._tell()

    def _tell(self) -> None:
        rows = [
            (
                *(one.number, one.parent, one.pid, one.start_ns, one.start_ticks, one.name),
                *(one.uid, one.before, one.seen, one.ended_ns),
            )
            for one in self._all.values()
        ]
        self.take(rows)
