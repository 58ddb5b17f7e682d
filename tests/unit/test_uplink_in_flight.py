"""Which frame a backend refused: only one that was alone on its way is given up."""

import asyncio

from tidscope_collector.uplink.in_flight import NARROWING, InFlight

A, B = "t-1-0000000a", "t-2-0000000b"


def sent(flight: InFlight, *frames: tuple[str, int]) -> None:
    for target, seq in frames:
        flight.add(target, seq)


def test_a_frame_that_was_alone_is_the_one() -> None:
    flight = InFlight()
    sent(flight, (A, 1))
    assert flight.refused() == (A, 1)


def test_none_of_several_is_given_up_on_a_guess() -> None:
    flight = InFlight()
    sent(flight, (A, 1), (B, 1))
    assert flight.refused() is None


def test_a_message_that_is_no_frame_may_be_the_one() -> None:
    flight = InFlight()
    flight.add_text()
    sent(flight, (A, 1))
    assert flight.refused() is None


def test_what_went_out_before_a_confirmed_frame_is_there() -> None:
    flight = InFlight()
    sent(flight, (A, 1))
    flight.add_text()
    sent(flight, (B, 1), (A, 2))
    flight.confirm({B: 1})
    assert flight.refused() == (A, 2)


async def narrowed(flight: InFlight, count: int) -> int:
    """Frames that go out before the next has to wait."""
    for seq in range(1, count + 1):
        try:
            async with asyncio.timeout(0):
                await flight.room()
        except TimeoutError:
            return seq - 1
        flight.add(A, seq)
    return count


async def test_fewer_frames_go_out_after_a_refusal_until_the_one_is_found() -> None:
    flight = InFlight()
    frames = NARROWING * NARROWING
    assert await narrowed(flight, frames) == frames
    assert flight.refused() is None
    flight.connected({})
    assert await narrowed(flight, frames) == NARROWING
    assert flight.refused() is None
    flight.connected({})
    assert await narrowed(flight, frames) == 1
    assert flight.refused() == (A, 1)
    flight.connected({})
    assert await narrowed(flight, frames) == frames


async def test_room_comes_with_a_confirmation() -> None:
    flight = InFlight()
    sent(flight, (A, 1), (A, 2))
    assert flight.refused() is None
    flight.connected({})
    sent(flight, (A, 1))
    waiting = asyncio.create_task(flight.room())
    await asyncio.sleep(0)
    assert not waiting.done()
    flight.confirm({A: 1})
    await waiting


def test_suspects_of_a_target_that_is_forgotten_hold_nothing_up() -> None:
    flight = InFlight()
    sent(flight, (A, 1), (A, 2))
    assert flight.refused() is None
    flight.forget(A)
    asyncio.run(flight.room())
