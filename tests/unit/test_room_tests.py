"""`make test-room` runs the tests that import something of a room, and no others."""

from pathlib import Path

from tool_scripts import load_tool, write_tree

room_tests = load_tool("room_tests")
ROOT = Path(__file__).parents[2]


def test_rooms_are_named_with_and_without_the_package() -> None:
    for room in ("collector/locks", "collector/locks/", "collector/tidscope_collector/locks"):
        assert room_tests.module_of(ROOT, room) == "tidscope_collector.locks"
    assert room_tests.module_of(ROOT, "shared/tidscope_wire") == "tidscope_wire"
    assert room_tests.module_of(ROOT, "collector/nothing") is None
    assert room_tests.module_of(ROOT, "nowhere") is None


def test_tests_are_those_that_import_the_room_or_what_is_below_it(tmp_path: Path) -> None:
    texts = {
        "tests/unit/test_direct.py": "import tidscope_collector.locks.registry",
        "tests/unit/test_from_package.py": "from tidscope_collector import locks",
        "tests/unit/test_inside.py": "if True:\n    from tidscope_collector.locks.a import b",
        "tests/unit/test_neighbour.py": "import tidscope_collector.locksmith",
        "tests/contract/test_contract.py": "from tidscope_collector.locks import registry",
        "tests/integration/test_dear.py": "import tidscope_collector.locks",
    }
    write_tree(tmp_path, texts)
    assert room_tests.tests_of(tmp_path, "tidscope_collector.locks") == [
        "tests/unit/test_direct.py",
        "tests/unit/test_from_package.py",
        "tests/unit/test_inside.py",
        "tests/contract/test_contract.py",
    ]
