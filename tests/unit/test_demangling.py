"""Names of C++ and Rust variables."""

import pytest
from tidscope_collector.foreign.demangling import LONGEST_NAME, open_demangler

CPP = b"/usr/lib/x86_64-linux-gnu/libstdc++.so.6.0.30"


@pytest.mark.parametrize(
    ("mangled", "name"),
    [
        ("_ZN4shop4tillE", "shop::till"),
        ("_ZL6hidden", "hidden"),
        ("_ZZ5localvE6inside", "local()::inside"),
        ("_ZN4shop4PoolIiE4lockE", "shop::Pool<int>::lock"),
        ("plain", "plain"),
        ("_Znonsense", "_Znonsense"),
        ("_Z", "_Z"),
    ],
)
def test_names_are_those_of_the_source(mangled: str, name: str) -> None:
    assert open_demangler([b"/bin/program", CPP])(mangled) == name


def test_a_long_name_is_cut() -> None:
    deep = "_ZN" + "9namespace" * 100 + "4lockE"
    assert len(open_demangler([CPP])(deep)) == LONGEST_NAME


def test_a_program_without_a_cpp_library_keeps_its_names() -> None:
    assert open_demangler([b"/lib/libc.so.6"])("_ZN4shop4tillE") == "_ZN4shop4tillE"
