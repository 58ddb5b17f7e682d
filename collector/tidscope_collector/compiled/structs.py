"""The structs of the compiled code as arrays that Python fills; a test compares the two."""

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.generic]


def _members(*names: str) -> np.dtype[np.void]:
    return np.dtype([(name, "u8") for line in names for name in line.split()])


ROWS = _members(
    "count width counters row_step column_step absent absent_row_step absent_column_step",
    "changed seen_ns tids gone births news",
)
NETWORK = _members(
    "slots used uncounted expected most stride tgid tgid_at tid_at start_at exit_at counters_at",
    "first_column rows",
)
PLAN = _members(
    "rows network link program block now now_room before socket sequence requests asking found",
    "messages slots",
    "stride lead senders length places values checks thread stats version pid_at tgid_at tgid",
    "age_at words fields delays asked got listed_ns numbers",
)
WALK = _members(
    "rows network link program pid block fields delays states starts comms ran listed_ns"
)
METADATA = _members("message size length_at body_at nodes_at buffers_at")
FRAME = _members(
    "rows chosen metadata header header_bytes seq_at first_seq_at rows_at time_at unix_at",
    "sample_at late_at columns_at columns_bytes out room attach_ns seq started_ns late_us",
    "size sample_us sent_rows",
)
LEDGERS = _members(
    "rows base slots stride states first_column attach_ns mark_at woken_at arrived_at began_at",
    "ns_at tgid tgid_at tid_at slot_of known",
)
TICK = _members(
    "plan walk frame ledgers watched watched_count folder path executable executable_bytes",
    "asks child answer asked incomplete waits drains sample_cpu_ns news exits",
)
KEPT = _members("at size sample_us started_ns sample_cpu_ns sent_ns")
LINK = _members("lock socket rest_bytes")
ROUND = _members(
    "tick link wake due_ns period_ns until_ns news_due_ns first_seq kept most frames room",
    "frame_bytes message taken message_bytes",
)
POLLFD = np.dtype([("descriptor", "i4"), ("wanted", "i2"), ("found", "i2")])
"""struct pollfd of poll(2)."""

_WORD = 2**64


class Struct:
    """One struct, all of whose members are 8 bytes wide.

    Args:
        kind: which.

    Attributes:
        address: of the struct; it stays.
    """

    def __init__(self, kind: np.dtype[np.void]) -> None:
        self._places = {name: place for place, name in enumerate(kind.names or ())}
        words = np.zeros(len(self._places), np.uint64)
        self.address = words.ctypes.data
        self._words = words.data
        self._kept: dict[str, object] = {}

    def __getitem__(self, member: str) -> int:
        number: int = self._words[self._places[member]]
        return number

    def __setitem__(self, member: str, number: int) -> None:
        self._words[self._places[member]] = number

    def set(self, **numbers: int) -> None:
        """Set members to numbers; negative ones as C converts them."""
        for member, number in numbers.items():
            self[member] = number % _WORD

    def point(self, **goals: "Array | Struct | None") -> None:
        """Set members to addresses of arrays or structs, which are kept; None: to 0."""
        for member, goal in goals.items():
            address = 0
            if goal is not None:
                address = goal.address if isinstance(goal, Struct) else goal.ctypes.data
            self._kept[member] = goal
            self[member] = address
