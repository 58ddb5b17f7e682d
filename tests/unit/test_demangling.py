"""Names of C++ and Rust variables, as a limited child makes them readable."""

import pytest
from tidscope_collector.inspection.demangling import LONGEST_NAME
from tidscope_collector.inspection.lock_answers import ask_readable_names

LEGACY = "_ZN16parking_lot_core11parking_lot9HASHTABLE17hffbf437005a126a7E"


@pytest.mark.parametrize(
    ("mangled", "name"),
    [
        ("_ZN4shop4tillE", "shop::till"),
        ("_ZL6hidden", "hidden"),
        ("_ZZ5localvE6inside", "local()::inside"),
        ("_ZN4shop4PoolIiE4lockE", "shop::Pool<int>::lock"),
        ("_Znonsense", "_Znonsense"),
        ("_Z", "_Z"),
        (LEGACY, "parking_lot_core::parking_lot::HASHTABLE"),
        ("_ZN5alloc3vec12Vec$LT$T$GT$4push17h0123456789abcdefE", "alloc::vec::Vec<T>::push"),
        ("_RNvCskwGfYPst2Cb_3foo4TILL", "foo::TILL"),
        ("_R", "_R"),
        ("_Z\n", "_Z\n"),
        ("_Rø", "_Rø"),
    ],
)
def test_names_are_those_of_the_source(mangled: str, name: str) -> None:
    assert ask_readable_names([mangled]) == {mangled: name}


def test_each_name_has_its_own() -> None:
    found = ask_readable_names(["_ZL6hidden", "plain", "_ZN4shop4tillE", "main.main"])
    assert found == {"_ZL6hidden": "hidden", "_ZN4shop4tillE": "shop::till"}


def test_a_long_name_is_cut() -> None:
    deep = "_ZN" + "9namespace" * 100 + "4lockE"
    assert len(ask_readable_names([deep])[deep]) == LONGEST_NAME
