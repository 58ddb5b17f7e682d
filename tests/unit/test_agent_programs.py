"""Which processes have an agent, by the sockets that listen."""

from pathlib import Path

from backend_builders import process
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.sizing.audit import with_agents

HEAD = "Num       RefCount Protocol Flags    Type St Inode Path\n"
LINE = "00000000a7ae2ab5: 00000002 00000000 {flags} 0001 {state} 19849 {path}\n"


def test_sockets_that_listen_and_are_called_like_that_of_an_agent(tmp_path: Path) -> None:
    sockets = [
        ("00010000", "01", "/run/user/1000/tidscope/7.sock.new"),
        ("00010000", "01", "/run/other/9.sock"),
        ("00000000", "03", "/run/user/1000/tidscope/8.sock.new"),
        ("00010000", "01", "@/run/user/1000/tidscope/8.sock.new"),
        ("00010000", "01", "/run/8.sock.new/other"),
    ]
    for pid in (7, 8, 9):
        (tmp_path / f"{pid}" / "net").mkdir(parents=True)
        (tmp_path / f"{pid}" / "net" / "unix").write_text(
            HEAD + "".join(LINE.format(flags=f, state=s, path=p) for f, s, p in sockets)
        )
    inside = process(20).model_copy(update={"namespace_pid": 7})
    (tmp_path / "20" / "net").mkdir(parents=True)
    (tmp_path / "20" / "net" / "unix").hardlink_to(tmp_path / "7" / "net" / "unix")
    listed = [process(7), process(8), process(9), inside, process(30)]
    found = with_agents(ProcFs(tmp_path), listed)
    assert [one.pid for one in found] == [7, 9, 20]
