"""Secrets of well-known forms are left out of command lines and output."""

import pytest
from tidscope_backend.cli.output_relay import (
    ARGUMENTS_NOT_STORED,
    NOT_STORED,
    TAIL_BYTES,
    Keeping,
    OutputTail,
    kept_by_default,
    leave_out,
)
from tidscope_wire.redaction import MARGIN, REDACTED, redact, redact_arguments

SECRET = "hunter2-hunter2"
PEM = "-----BEGIN RSA PRIVATE KEY-----\n" + "QUJD\n" * 300 + "-----END RSA PRIVATE KEY-----\n"


@pytest.mark.parametrize(
    "text",
    [
        f"PGPASSWORD={SECRET} psql",
        f"env DB_PASS='{SECRET} {SECRET}' run",
        f"mysql --password {SECRET} -u root",
        f"mysql --password={SECRET}",
        f"java -Djavax.net.ssl.keyStorePassword={SECRET} -jar x.jar",
        f'{{"client_secret": "{SECRET}", "a": 1}}',
        f"AWS_SECRET_ACCESS_KEY={SECRET}",
        f"curl -H 'Authorization: Bearer {SECRET}' https://example.org",
        f"curl -H 'X-Api-Key: {SECRET}'",
        f"Authorization: Basic {SECRET}",
        f"git clone https://somebody:{SECRET}@example.org/x.git",
        f"git clone https://{SECRET}@example.org/x.git",
        f"GET /cb?access_token={SECRET}&x=1",
        f"http://127.0.0.1:8787/#token={SECRET}",
    ],
)
def test_values_of_secret_names_are_left_out(text: str) -> None:
    found = redact(text)
    assert SECRET not in found
    assert REDACTED in found
    assert found.split()[0].split("=")[0] == text.split(maxsplit=1)[0].split("=", maxsplit=1)[0]


@pytest.mark.parametrize(
    "token",
    [
        "AKIAIOSFODNN7EXAMPLE",
        "ghp_" + "a1" * 18,
        "github_pat_" + "a1" * 20,
        "glpat-" + "a1" * 10,
        "xoxb-" + "1" * 12 + "-abc",
        "sk_live_" + "a1" * 12,
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefgh",
        "tds_" + "a" * 43,
        PEM,
        PEM.partition("\n")[2],
    ],
)
def test_tokens_of_well_known_forms_are_left_out(token: str) -> None:
    assert redact(f"\n{token}\n".lstrip() if token in PEM else f"x {token} y").count("a1") == 0
    assert token.strip() not in redact(f"{token} y")
    assert "QUJD" not in redact(token)


@pytest.mark.parametrize(
    "text",
    [
        "--max-tokens=100 --tokenizer=bpe --tokens 5",
        "sort --key=2 --sort-key name",
        "bypass=1 --passes 3 compass: north",
        "https://example.org/a@b?x=1",
        "/usr/bin/java -Xmx4g -cp /a/b.jar org.example.Main --config /etc/x.yaml",
        "basic usage: bearer",
    ],
)
def test_other_text_stays(text: str) -> None:
    assert redact(text) == text


def test_a_secret_may_be_the_next_argument() -> None:
    given = ["x", "--password", "a b", "--token", "--flag", "v", f"--api-key={SECRET}"]
    assert redact_arguments(given) == [
        *("x", "--password", REDACTED, "--token", "--flag", "v", f"--api-key={REDACTED}"),
    ]


def test_own_patterns_are_left_out_too() -> None:
    keeping = Keeping(arguments=True, output=True, patterns=[r"cust-\d+", "blue"])
    tail = OutputTail()
    tail.append(b"for cust-12 and a blue car\n")
    assert keeping.output_text(tail) == f"for {REDACTED} and a {REDACTED} car\n"
    assert keeping.argument_list(["run", "cust-3"]) == ["run", REDACTED]
    assert keeping.command_line("run cust-3") == f"run {REDACTED}"


def test_a_pattern_that_takes_for_ever_keeps_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tidscope_backend.cli.output_relay.PATTERN_SECONDS", 0.5)
    assert leave_out(["(a+)+$"], ["a" * 64 + "b", "secret"]) == [NOT_STORED, NOT_STORED]


def test_what_is_not_kept() -> None:
    nothing = Keeping(arguments=False, output=False)
    tail = OutputTail()
    tail.append(b"secret")
    assert nothing.output_text(tail) is None
    assert nothing.argument_list(["run", "a", "b"]) == ["run"]
    assert nothing.command_line("run a b") == f"run {ARGUMENTS_NOT_STORED}"
    assert Keeping(arguments=True, output=True).command_line("run a b") is None


def test_a_secret_that_is_cut_in_two_does_not_stay() -> None:
    keeping = Keeping(arguments=True, output=True)
    # Of the name of the secret only a part is still there.
    for line in ("", "x" * 100 + "\n"):
        tail = OutputTail()
        tail.append(b"password=" + b"s" * 3000 + b"\n" + line.encode())
        tail.append(b"y" * (TAIL_BYTES + MARGIN - 2000 - len(line)))
        assert "s" not in (keeping.output_text(tail) or "")
    tail = OutputTail()
    tail.append(b"z" * 100_000)
    assert keeping.output_text(tail) == "z" * TAIL_BYTES


def test_defaults_are_settings() -> None:
    assert kept_by_default({}, "TIDSCOPE_RECORD_OUTPUT")
    assert not kept_by_default({"TIDSCOPE_RECORD_OUTPUT": "no"}, "TIDSCOPE_RECORD_OUTPUT")
