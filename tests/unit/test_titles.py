"""Titles of real servers, and what their processes do."""

import pytest
from tidscope_collector.inspection.questions import TITLE_BYTES
from tidscope_collector.naming.source import LONGEST_ROLE, read_title, role_of_title


@pytest.mark.parametrize(
    ("arguments", "title"),
    [
        (b"postgres: checkpointer \0\0\0\0\0\0", "postgres: checkpointer"),
        (b"nginx: worker process\0\0\0", "nginx: worker process"),
        (b"postgres: app shop [local] idle", "postgres: app shop [local] idle"),
        (b"sshd: user@pts/0", "sshd: user@pts/0"),
        (b"/usr/bin/postgres\0-D\0/var/lib/postgresql\0", None),
        (b"nginx: master process\0-g\0", None),
        (b"python3\0-c\0print: 1\0", None),
        (b"sleep\0", None),
        (b"", None),
        (b"a:b c", None),
        (b"two words", None),
        (b"x: " + b"y" * 5000, "x: " + "y" * (TITLE_BYTES - 3)),
    ],
)
def test_what_is_a_title(arguments: bytes, title: str | None) -> None:
    assert read_title(arguments) == title


@pytest.mark.parametrize(
    ("title", "role"),
    [
        ("postgres: app shop 10.0.0.7(40112) UPDATE waiting", "postgres: UPDATE waiting"),
        ("postgres: app shop [local] idle in transaction", "postgres: idle in transaction"),
        ("postgres: 15/main: app shop ::1(40112) SELECT", "postgres: SELECT"),
        ("postgres: app shop host.example(5432) idle", "postgres: idle"),
        ("postgres: 15/main: checkpointer", "postgres: checkpointer"),
        ("postgres: background writer", "postgres: background writer"),
        ("postgres: autovacuum worker shop", "postgres: autovacuum worker"),
        ("postgres: autovacuum launcher", "postgres: autovacuum launcher"),
        ("postgres: parallel worker for PID 4711", "postgres: parallel worker for PID #"),
        ("postgres: walsender rep 10.0.0.9(1234) streaming 0/3000148", "postgres: streaming #"),
        ("postgres: startup recovering 000000010000000000000001", "postgres: startup recovering #"),
        ("postgres: io worker 2", "postgres: io worker #"),
        ("nginx: worker process", "nginx: worker process"),
        ("nginx: cache manager process", "nginx: cache manager process"),
        ("php-fpm: pool www2", "php-fpm: pool www#"),
        ("gunicorn: worker [shop]", "gunicorn: worker [shop]"),
        ("sshd: user@pts/12", "sshd: user@pts/#"),
    ],
)
def test_roles_of_titles(title: str, role: str) -> None:
    assert role_of_title(title) == role


def test_a_title_shows_no_secret_and_has_an_end() -> None:
    title = read_title(b"worker: connects to https://user:hunter22@host/ and waits")
    assert title is not None
    assert "hunter22" not in title
    assert len(role_of_title("x: " + "long " * 400)) == LONGEST_ROLE
