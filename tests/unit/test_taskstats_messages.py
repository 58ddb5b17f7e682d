"""Walking one message: right ones of every version, and wrong ones in every way that we know."""

import errno
import struct

import pytest
from taskstats_replies import (
    AGGR_PID,
    AGGR_TGID,
    FAMILY,
    LENGTHS,
    NULL,
    PADS,
    VERSIONS,
    Pad,
    attribute,
    error,
    exit_record,
    hostile,
    message,
    payload_offset,
    record,
    reply,
    stats,
    struct_of,
)
from tidscope_collector.taskstats.layout import choose
from tidscope_collector.taskstats.messages import (
    Record,
    command,
    error_code,
    family_request,
    parse,
    parse_family,
)
from tidscope_collector.taskstats.refusals import MalformedReplyError, Refusal, RefusalCounts
from tidscope_collector.taskstats.shapes import learn

TID = 0x01020304


def refusal_of(datagram: bytes, version: int) -> Refusal | None:
    try:
        learn(datagram, FAMILY, choose(version, LENGTHS[version]))
    except MalformedReplyError as refused:
        return refused.refusal
    return None


@pytest.mark.parametrize("version", VERSIONS)
def test_the_layout_of_each_version_is_that_of_its_header(version: int) -> None:
    made = struct_of(version)
    layout = choose(version, LENGTHS[version])
    names = [name for name, *_ in made._fields_ if name not in ("ac_sched", "_pad")]
    assert [name for name in layout.offsets if name != "ac_sched"] == names
    for name in names:
        assert layout.offsets[name] == getattr(made, name).offset, name


@pytest.mark.parametrize("pad", PADS)
@pytest.mark.parametrize("version", VERSIONS)
def test_a_reply_of_each_version_is_walked(version: int, pad: Pad) -> None:
    datagram = reply(TID, stats(version, TID), sequence=9, pad=pad)
    at = payload_offset(pad)
    id_at = 32 if pad == "before" else 28
    assert parse(datagram, FAMILY) == [Record(AGGR_PID, TID, id_at, at, LENGTHS[version])]
    assert len(datagram) == at + LENGTHS[version]


@pytest.mark.parametrize("pad", PADS)
@pytest.mark.parametrize("version", VERSIONS)
def test_an_exit_record_of_each_version_is_walked(version: int, pad: Pad) -> None:
    body = stats(version, TID)
    datagram = exit_record(TID, body, sequence=9, pad=pad, process=(77, stats(version, 0)))
    thread, process = parse(datagram, FAMILY)
    assert (thread.kind, thread.id, process.kind, process.id) == (AGGR_PID, TID, AGGR_TGID, 77)
    assert datagram[thread.offset : thread.offset + thread.length] == body
    # The pad of an aligning kernel is not needed again in front of the second struct.
    headers = {"none": 16, "before": 20, "inside": 16}[pad]
    assert process.offset == thread.offset + thread.length + headers


def test_attributes_that_are_not_known_are_passed_over() -> None:
    body = attribute(99, b"x") + record(AGGR_PID, TID, stats(16, TID)) + attribute(98, b"abcdefg")
    (found,) = parse(message(body), FAMILY)
    assert (found.id, found.length) == (TID, 560)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_message_cut_at_any_byte_is_refused(version: int) -> None:
    last = (TID - 1, stats(version, 0))
    whole = exit_record(TID, stats(version, TID), sequence=1, process=last)
    alone = len(exit_record(TID, stats(version, TID), sequence=1))
    assert refusal_of(whole, version) is None
    for cut in range(len(whole)):
        short = whole[:cut]
        wanted = {Refusal.LENGTH} if cut >= 16 else {Refusal.SHORT}
        assert refusal_of(short, version) in wanted, cut
        # And when its own length agrees with the cut; at the end of the first record it is whole.
        reported = struct.pack("=I", cut) + short[4:] if cut >= 4 else short
        refused = refusal_of(reported, version)
        assert (refused is None) == (cut == alone), cut


@pytest.mark.parametrize("version", [8, 12, 15, 16])
def test_each_wrong_message_is_refused_by_name(version: int) -> None:
    for what, name, datagram in hostile(version, TID, 1):
        if name == "IDENTITY":  # known only to who asked
            continue
        assert refusal_of(datagram, version) == Refusal[name], what


@pytest.mark.parametrize("reported", [16, 15])
def test_v15_and_v16_are_reported_apart_by_version_alone(reported: int) -> None:
    other = 31 - reported
    datagram = reply(TID, stats(reported, TID), sequence=1)
    assert refusal_of(datagram, reported) is None
    assert refusal_of(datagram, other) is Refusal.LAYOUT


@pytest.mark.parametrize("at", [20, 24, 32])
def test_every_length_of_an_attribute_but_the_right_one_is_refused(at: int) -> None:
    right = bytearray(reply(TID, stats(16, TID), sequence=1))
    (true,) = struct.unpack_from("=H", right, at)
    accepted = []
    for length in range(65536):
        struct.pack_into("=H", right, at, length)
        if refusal_of(bytes(right), 16) is None:
            accepted.append(length)
    assert accepted == [true]


@pytest.mark.parametrize(
    ("datagram", "code"),
    [
        (error(1, errno.ESRCH), errno.ESRCH),
        (error(1, errno.EPERM), errno.EPERM),
        (error(1, 0), 0),
        (error(1, 4095), 4095),
        (error(1, 4096), None),
        (error(1, -3), None),
        (error(1, 2**31), None),
        (error(1, errno.EPERM, b""), errno.EPERM),
        (error(1, errno.EPERM)[:20], None),  # tells more than it has
        (error(1, errno.EPERM, b"")[:19], None),
        (b"\x10" + error(1, errno.EPERM)[1:], None),  # tells 16 bytes: no room for an errno
        (reply(TID, stats(16, TID), sequence=1), None),
        (b"", None),
    ],
)
def test_the_errno_of_an_error_message(datagram: bytes, code: int | None) -> None:
    assert error_code(datagram) == code


def test_a_command_is_as_the_kernel_reads_it() -> None:
    made = command(0x1C, 3, b"0-3\0\0", 7)
    assert made == bytes.fromhex(
        "20000000 1c00 0500 07000000 00000000"  # length, family, REQUEST | ACK, sequence, port
        "01 01 0000"  # GET, version 1
        "0900 0300 302d3300 00000000"  # 9 bytes of a cpumask, padded
    )


def test_a_refusal_is_logged_once_and_counted(caplog: pytest.LogCaptureFixture) -> None:
    refused = RefusalCounts()
    refused.note(Refusal.TWICE, "the second of thread 7")
    refused.note(Refusal.TWICE, "the second of thread 8", 3)
    refused.note(Refusal.CUT, "1000 bytes")
    assert dict(refused) == {Refusal.TWICE: 4, Refusal.CUT: 1}
    assert [entry.getMessage() for entry in caplog.records] == [
        "refused a taskstats message: second answer to one request: the second of thread 7",
        "refused a taskstats message: cut off: longer than its slot: 1000 bytes",
    ]


def test_the_pad_alone_is_no_record() -> None:
    assert refusal_of(message(attribute(NULL, b"")), 16) is Refusal.CONTENT


def family_reply(*attributes: bytes, kind: int = 16) -> bytes:
    """A reply of the generic netlink controller: CTRL_CMD_NEWFAMILY."""
    body = struct.pack("=BBH", 1, 2, 0) + b"".join(attributes)
    return struct.pack("=IHHII", 16 + len(body), kind, 0, 1, 0) + body


NAME = struct.pack("=HH", 14, 2) + b"TASKSTATS\0\0\0"
NUMBER = struct.pack("=HHHH", 6, 1, 0x1D, 0)


def test_the_number_of_the_family_is_asked_for_by_name() -> None:
    assert family_request("TASKSTATS", 7) == (
        struct.pack("=IHHII", 36, 16, 5, 7, 0) + struct.pack("=BBH", 3, 1, 0) + NAME
    )
    assert parse_family(family_reply(NAME, NUMBER)) == 0x1D


@pytest.mark.parametrize(
    ("datagram", "refusal"),
    [
        (b"", Refusal.SHORT),
        (family_reply(NAME), Refusal.CONTENT),
        (family_reply(NAME, NUMBER, kind=17), Refusal.TYPE),
        (family_reply(NAME, NUMBER)[:-1], Refusal.LENGTH),
        (family_reply(struct.pack("=HHHH", 60, 1, 0x1D, 0)), Refusal.ATTRIBUTE),
    ],
)
def test_a_malformed_reply_of_the_controller_is_refused(datagram: bytes, refusal: Refusal) -> None:
    with pytest.raises(MalformedReplyError) as refused:
        parse_family(datagram)
    assert refused.value.refusal == refusal
