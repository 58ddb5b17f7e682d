"""One instance of a host tries sizes out at a time."""

from tidscope_policies.coordinator import Coordinator


def test_the_first_that_asks_has_it_until_it_is_done() -> None:
    token = Coordinator()
    assert not token.is_probing_elsewhere("a", 0)
    assert token.request_turn("a", 0, probing=True)
    assert token.is_probing_elsewhere("b", 0)
    assert not token.is_probing_elsewhere("a", 2)
    assert not token.request_turn("b", 2, probing=True)
    assert not token.request_turn("a", 4, probing=False)
    assert not token.is_probing_elsewhere("b", 4)
    assert token.request_turn("b", 4, probing=True)


def test_only_its_holder_gives_it_back() -> None:
    token = Coordinator()
    token.request_turn("a", 0, probing=True)
    token.request_turn("b", 1, probing=False)
    assert token.is_probing_elsewhere("b", 1)


def test_a_holder_heard_of_no_more_loses_it_with_its_lease() -> None:
    token = Coordinator(lease_s=10)
    token.request_turn("a", 0, probing=True)
    token.request_turn("a", 5, probing=True)
    assert token.is_probing_elsewhere("b", 14.9)
    assert not token.is_probing_elsewhere("b", 15)
    assert token.request_turn("b", 15, probing=True)
    assert token.is_probing_elsewhere("a", 15)


def test_one_that_holds_it_for_long_lets_the_others_have_it_once() -> None:
    token = Coordinator(longest_s=60)
    token.join("a")
    token.join("b")
    for now in range(0, 60, 2):
        assert token.request_turn("a", now, probing=True)
    assert not token.request_turn("a", 60, probing=True)
    assert token.request_turn("b", 60, probing=True)
    assert token.is_probing_elsewhere("a", 62)


def test_alone_it_is_held_as_long_as_wanted() -> None:
    token = Coordinator(longest_s=60)
    token.join("a")
    assert all(token.request_turn("a", now, probing=True) for now in range(0, 600, 2))


def test_members_and_a_holder_that_leaves() -> None:
    token = Coordinator()
    for name in ("a", "b", "a"):
        token.join(name)
    assert list(token.members) == ["a", "b"]
    token.request_turn("a", 0, probing=True)
    token.leave("a")
    token.leave("unknown")
    assert list(token.members) == ["b"]
    assert not token.is_probing_elsewhere("b", 0)
