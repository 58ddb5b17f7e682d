"""Queues of the kernel: what is read of files of /proc and /sys, and what it counts for."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from tidscope_collector.inspection.connections import Peer, parse_connections, peers_of
from tidscope_collector.inspection.locked_files import path_of
from tidscope_collector.inspection.ports import Listener, listening_sockets, parse_listening
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.queues import accept_queues, file_locks
from tidscope_collector.queues.accept_queues import AcceptQueues
from tidscope_collector.queues.devices import Devices
from tidscope_collector.queues.file_locks import FileLock, FileLocks, parse_locks
from tidscope_collector.queues.peers import SEARCH_AGAIN, SEARCH_EVERY, Peers

SECOND = 1_000_000_000
HEAD = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid\n"
LOCKS = """1: POSIX  ADVISORY  WRITE 7 08:01:131 1073741824 1073742335
1: POSIX  ADVISORY  WRITE 7 08:01:131 1073741826 1073742335
1: -> POSIX  ADVISORY  READ 8 08:01:131 1073741824 1073742335
2: FLOCK  ADVISORY  READ 9 00:1b:44 0 EOF
3: LEASE  ACTIVE    READ 9 00:1b:45 0 EOF
4: OFDLCK ADVISORY  WRITE -1 00:1b:46 0 EOF
5: POSIX  ADVISORY  WRITE x 00:1b:47 0 EOF
nonsense
"""


def line(address: str, state: str, waiting: int, inode: int) -> str:
    return (
        f"   0: {address} 00000000:0000 {state} 00000000:{waiting:08X} 00:00000000 00000000"
        f"     0        0 {inode} 1 0000000000000000 100 0 0 10 0\n"
    )


class Host:
    """A made-up host: processes 7 and 8 with a network namespace and descriptors."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.procfs = ProcFs(root)
        for pid in (7, 8):
            for folder in ("ns", "net", "fd", "fdinfo"):
                (root / f"{pid}/{folder}").mkdir(parents=True)
            (root / f"{pid}/ns/net").symlink_to("net:[1]")
        self.listen(0)

    def listen(self, waiting: int) -> None:
        sockets = line("0100007F:1F90", "0A", waiting, 55) + line("0100007F:1F90", "01", 9, 56)
        for pid in (7, 8):
            (self.root / f"{pid}/net/tcp").write_text(HEAD + sockets)

    def find(self, identities: Sequence[tuple[int, int]]) -> list[tuple[int, str, int]]:
        found = listening_sockets(self.procfs, [pid for pid, _ in identities])
        return [(one.inode, one.address, pid) for one, pid in found]

    def path_of(self, pid: int, _start_ticks: int, file: str) -> str:
        return path_of(self.procfs, pid, file)

    def opens(self, pid: int, number: int, link: str, info: str = "") -> None:
        file = self.root / f"{pid}/fd/{number}"
        file.unlink(missing_ok=True)
        file.symlink_to(link)
        (self.root / f"{pid}/fdinfo/{number}").write_text(info)


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(tmp_path)


def test_listening_sockets_have_addresses_and_waiting_connections() -> None:
    v6 = "B80D0120000000000000000001000000:0050"
    table = HEAD + line("0100007F:1F90", "0A", 17, 5) + line(v6, "0A", 0, 6)
    assert parse_listening(table.encode()) == [
        Listener(5, 8080, "127.0.0.1:8080", 17),
        Listener(6, 80, "[2001:db8::1]:80", 0),
    ]


def test_connections_that_wait_count_for_each_process_that_listens(host: Host) -> None:
    host.opens(7, 3, "socket:[55]")
    host.opens(8, 3, "socket:[55]")
    queues = AcceptQueues(host.procfs, host.find)
    queues.read({7: 1, 8: 2}, 0)
    host.listen(4)
    queues.read({7: 1, 8: 2}, SECOND)
    host.listen(0)
    queues.read({7: 1, 8: 2}, SECOND)
    figures = (0, 4 * SECOND, SECOND, 2 * SECOND, "127.0.0.1:8080")
    assert queues.table().tolist() == [(1, 7, *figures), (1, 8, *figures)]


def test_sockets_of_other_programs_have_no_rows(host: Host) -> None:
    host.listen(4)
    queues = AcceptQueues(host.procfs, host.find)
    queues.read({7: 1, 8: 2}, 0)
    queues.read({7: 1, 8: 2}, SECOND)
    assert len(queues.table()) == 0


def test_processes_that_begin_to_listen_are_found(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(accept_queues, "SEARCH_EVERY", 1)
    host.opens(7, 3, "socket:[55]")
    queues = AcceptQueues(host.procfs, host.find)
    queues.read({7: 1}, 0)
    host.opens(8, 4, "socket:[55]")
    host.listen(1)
    queues.read({7: 1, 8: 2}, SECOND)
    assert queues.table()["pid"].tolist() == [7, 8]


CLIENT, SERVER = "0100007F:D431", "0100007F:1F90"
MAPPED = "0000000000000000FFFF0000"


def connection(local: str, remote: str, unsent: int, inode: int) -> str:
    return (
        f"   0: {local} {remote} 01 {unsent:08X}:00000000 00:00000000 00000000"
        f"     0        0 {inode} 1 0000000000000000 20 4 0 10 -1\n"
    )


def stream(host: Host, unsent: int) -> None:
    """Process 7 listens, and sends to process 8, by a socket of IPv6 that takes IPv4.

    To another host it has opened a connection itself.
    """
    v4 = connection(CLIENT, SERVER, 0, 61) + connection(
        "0100007F:D433", "070200C0:0050", unsent, 62
    )
    v6 = line(f"{32 * '0'}:1F90", "0A", 0, 59)
    v6 += connection(MAPPED + SERVER, MAPPED + CLIENT, unsent, 60)
    for pid in (7, 8):
        (host.root / f"{pid}/net/tcp").write_text(HEAD + v4)
        (host.root / f"{pid}/net/tcp6").write_text(HEAD + v6)
        (host.root / f"{pid}/comm").write_text(f"program-{pid}\n")
    host.opens(7, 4, "socket:[60]")
    host.opens(7, 5, "socket:[62]")
    host.opens(8, 9, "socket:[61]")


def test_peers_are_found_behind_both_kinds_of_sockets(host: Host) -> None:
    stream(host, 9000)
    sender, reader = Peer(60, 7, False, "127.0.0.1", 8, "program-8"), 61
    other_host = Peer(62, 7, True, "192.0.2.7", 0, "")
    assert sorted(peers_of(host.procfs, [7])) == [sender, other_host]
    assert peers_of(host.procfs, [8]) == [Peer(reader, 8, True, "127.0.0.1", 7, "program-7")]


def test_connections_that_are_not_full_matter_to_who_opened_them(host: Host) -> None:
    stream(host, 8000)
    assert [one.inode for one in peers_of(host.procfs, [7, 8])] == [62, 61]


def test_full_connections_count_while_they_are_full(host: Host) -> None:
    peers = Peers(host.procfs, lambda _: peers_of(host.procfs, [7]))
    stream(host, 9000)
    peers.read({7: 1}, 0)
    peers.read({7: 1}, SECOND)
    figures = (SECOND + 1, SECOND + 1)
    assert peers.table().tolist() == [
        (1, 7, 8, 0, 1, 9000, *figures, "127.0.0.1", "program-8"),
        (2, 7, 0, 1, 1, 9000, *figures, "192.0.2.7", ""),
    ]
    stream(host, 0)
    peers.read({7: 1}, SECOND)
    figures = (SECOND + 1, 2 * SECOND + 1)
    assert peers.table().tolist() == [
        (1, 7, 8, 0, 0, 0, *figures, "127.0.0.1", "program-8"),
        (2, 7, 0, 1, 0, 0, *figures, "192.0.2.7", ""),
    ]


def test_who_was_connected_to_has_a_row(host: Host) -> None:
    stream(host, 0)
    peers = Peers(host.procfs, lambda _: peers_of(host.procfs, [7, 8]))
    peers.read({7: 1, 8: 2}, 0)
    # On another host nobody knows which process it is.
    assert peers.table().tolist() == [(1, 8, 7, 1, 0, 0, 0, 1, "127.0.0.1", "program-7")]


def test_peers_are_searched_now_and_then_and_only_for_unknown_connections(host: Host) -> None:
    searches = 0

    def find(_: Sequence[tuple[int, int]]) -> list[Peer]:
        nonlocal searches
        searches += 1
        return []

    peers = Peers(host.procfs, find)
    peers.read({7: 1}, 0)
    assert searches == 0
    stream(host, 9000)
    for _ in range(3 * SEARCH_EVERY):
        peers.read({7: 1}, SECOND)
    # Nobody of the target has these sockets.
    assert searches == 1
    assert len(peers.table()) == 0


def test_new_connections_of_others_are_searched_ever_more_seldom(host: Host) -> None:
    begun: list[int] = []

    def find(_: Sequence[tuple[int, int]]) -> list[Peer]:
        begun.append(reading)
        return []

    peers = Peers(host.procfs, find)
    for reading in range(4 * SEARCH_AGAIN):
        local = f"0100007F:{40000 + reading:04X}"
        table = HEAD + connection(local, "070200C0:0050", 0, 1000 + reading)
        (host.root / "7/net/tcp").write_text(table)
        peers.read({7: 1}, SECOND)
    gaps = [late - early for early, late in pairwise(begun)]
    assert gaps == [10, 20, 40, 80, 80, 80]
    # One that is full is searched for at once.
    (host.root / "7/net/tcp").write_text(HEAD + connection("0100007F:9999", SERVER, 9000, 5))
    for _ in range(SEARCH_EVERY + 1):
        peers.read({7: 1}, SECOND)
    assert len(begun) == len(gaps) + 2


def test_a_cut_or_damaged_table_has_fewer_connections() -> None:
    whole = HEAD + connection(CLIENT, SERVER, 5, 61)
    cut = whole + connection(SERVER, CLIENT, 5, 60)[:-30]
    assert [one.inode for one in parse_connections([cut.encode()])] == [61]
    damaged = whole.replace("00000005", "0000000g")
    assert parse_connections([damaged.encode()]) == []


def test_locks_are_parsed_and_other_lines_left_out() -> None:
    assert parse_locks(LOCKS.encode()) == [
        FileLock("08:01:131", 7, waits=False, exclusive=True),
        FileLock("08:01:131", 7, waits=False, exclusive=True),
        FileLock("08:01:131", 8, waits=True, exclusive=False),
        FileLock("00:1b:44", 9, waits=False, exclusive=False),
        FileLock("00:1b:46", -1, waits=False, exclusive=True),
    ]


def test_who_holds_a_lock_of_a_file_and_who_waits(host: Host) -> None:
    (host.root / "locks").write_text(LOCKS)
    host.opens(7, 3, "/other", "pos:\t0\nino:\t131\n")
    lock = "lock:\t1: POSIX  ADVISORY  WRITE 7 08:01:131 0 EOF\n"
    host.opens(7, 4, "/var/lib/sales.db", f"pos:\t0\nino:\t131\n{lock}")
    locks = FileLocks(host.procfs, host.path_of)
    locks.read({7: 1, 8: 2, 9: 3}, 0)
    locks.read({7: 1, 8: 2, 9: 3}, SECOND)
    (host.root / "locks").write_text("")
    locks.read({7: 1, 8: 2, 9: 3}, SECOND)
    assert locks.table().tolist() == [
        (1, 7, SECOND, 0, 2 * SECOND, "/var/lib/sales.db"),
        (1, 8, 0, SECOND, 2 * SECOND, "/var/lib/sales.db"),
    ]


def test_locks_of_other_programs_and_too_many_have_no_rows(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    (host.root / "locks").write_text(LOCKS)
    locks = FileLocks(host.procfs, host.path_of)
    locks.read({9: 3}, SECOND)
    assert len(locks.table()) == 0
    monkeypatch.setattr(file_locks, "MAX_FILES", 0)
    locks.read({7: 1, 8: 2}, SECOND)
    assert len(locks.table()) == 0


def test_devices_are_whole_disks_and_interfaces_of_known_speed(tmp_path: Path) -> None:
    disks = " 8 0 sda 1 2 3 4 5 6 7 8 9 {busy} {queue}\n 8 1 sda1 1 2 3 4 5 6 7 8 9 1 1\n"
    (tmp_path / "block/sda").mkdir(parents=True)
    for name, speed in (("eth0", "1000\n"), ("wlan0", "-1\n"), ("lo", "")):
        of = tmp_path / f"class/net/{name}/statistics"
        of.mkdir(parents=True)
        (of.parent / "speed").write_text(speed)
    devices = Devices(ProcFs(tmp_path), tmp_path)
    for times in (1, 2):
        (tmp_path / "diskstats").write_text(disks.format(busy=500 * times, queue=700 * times))
        for way in ("rx", "tx"):
            (tmp_path / f"class/net/eth0/statistics/{way}_bytes").write_text(f"{90 * times}\n")
        devices.read()
    assert devices.table().tolist() == [
        (1, 0, 500_000_000, 700_000_000, 0, 0, "disk", "sda"),
        (2, 125_000_000, 0, 0, 90, 90, "network", "eth0"),
    ]
