"""Settings of the backend, as one frozen value. No other module reads the environment."""

import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from tidscope_confinement.environment import take_variable
from tidscope_predictd.client import SYSTEM_SOCKET
from tidscope_predictd.client import VARIABLE as PREDICTD_VARIABLE
from tidscope_wire.generated.limits import (
    MAX_BODY_BYTES,
    MAX_FRAME_BYTES,
    MAX_IMPORT_BYTES,
    MAX_PAGE_COMMAND_BYTES,
    MAX_TRACES_BYTES,
    MIN_SECRET,
    RUN_PART_BYTES,
    RUN_PART_SECONDS,
)
from tidscope_wire.proof import DEFAULT_HOST_NAME, KEY_BYTES, host_name, host_secret

from tidscope_backend.connections.connection import Waits

MIB = 1024 * 1024
HOUR = 3600.0
MAX_FLEET_HOSTS = 4096
"""Maximum hosts over NATS; further ones are not looked at, and the log says so."""
BROWSER_VARIABLE = "TIDSCOPE_TOKEN"
VIEW_VARIABLE = "TIDSCOPE_VIEW_TOKEN"
COLLECTOR_VARIABLE = "TIDSCOPE_COLLECTOR_SECRET"
METRICS_VARIABLE = "TIDSCOPE_METRICS_TOKEN"
RUNS_VARIABLE = "TIDSCOPE_RUNS"
EXPERIMENTS_VARIABLE = "TIDSCOPE_EXPERIMENTS"
"""Folders of experiments that the page may start, separated by colons."""
OTLP_VARIABLE = "TIDSCOPE_OTLP_ENDPOINT"
SPANS_VARIABLE = "TIDSCOPE_SPANS_TOKEN"
SECRET_VARIABLES = (
    *(BROWSER_VARIABLE, VIEW_VARIABLE, METRICS_VARIABLE, COLLECTOR_VARIABLE),
    SPANS_VARIABLE,
)
DEFAULT_HOST = "127.0.0.1"
KEEP_ALIVE_SECONDS = 5
"""Time after which the backend closes an idle HTTP connection."""
DEFAULT_PORT = 8787


class SettingsError(ValueError):
    """A setting is invalid; the text names it and the remedy."""


def new_secret() -> str:
    """Make a URL-safe secret of 192 random bits."""
    return secrets.token_urlsafe(24)


@dataclass(frozen=True)
class SpanPorts:
    """Ports of 127.0.0.1 for receiving spans; 0 lets the kernel choose.

    Attributes:
        http: port of OTLP/HTTP.
        grpc: port of OTLP/gRPC.
    """

    http: int = 4318
    grpc: int = 4317


@dataclass(frozen=True)
class DebugFileSettings:
    """Debug files that are fetched.

    Attributes:
        servers: addresses of debuginfod servers.
        folder: folder of the files; the collector on this machine reads them there.
        max_bytes: maximum bytes of all files.
    """

    servers: tuple[str, ...]
    folder: Path
    max_bytes: int


@dataclass(frozen=True)
class FleetSettings:
    """How to reach the NATS servers of a fleet.

    Attributes:
        servers: addresses, nats:// or tls://.
        seed: NKey seed; empty: none.
        beat_s: interval of beats of sessions, and of a host's word that it is there, in seconds.
        silent_s: silence after which a session ends, in seconds.
        roles_s: interval of totals by role, in seconds.
    """

    servers: tuple[str, ...]
    seed: str = field(default="", repr=False)
    beat_s: float = 5.0
    silent_s: float = 16.0
    roles_s: float = 10.0


@dataclass(frozen=True)
class Settings:
    """All settings of one backend.

    Attributes:
        token: token that a browser trades for an operator's session.
        collector_secret: secret of the collector of the host `default`.
        view_token: token that a browser trades for a view-only session.
        metrics_token: token for /metrics only; None for none.
        state_dir: folder of sessions and audit log; None to store neither.
        session_idle_seconds: idle time after which a session ends.
        session_seconds: maximum lifetime of a session.
        host: listening address; a wildcard address admits any IP literal as Host.
        port: listening port; state is stored per port.
        allow_hosts: further host names allowed in requests, without port.
        allow_origins: further allowed origins of pages, such as https://tidscope.example behind a
            proxy that terminates TLS.
        trusted_proxies: networks of proxies whose X-Forwarded-For and -Proto are trusted.
        ended_descriptor: descriptor of the supervisor's log; None without a supervisor.
        ring_descriptor: descriptor of what the ring's process says; None without a ring.
        web_dir: folder of the built page.
        history_bytes: maximum bytes of kept frames of one target.
        history_total_bytes: maximum bytes of kept frames of all targets.
        history_seconds: maximum age of a target's kept frames.
        runs_dir: the runs directory; None to store no runs.
        experiment_dirs: folders of experiment files that operators may start.
        keep_runs_seconds: maximum age of an ended run; None for no limit.
        keep_runs_bytes: maximum bytes of all runs, beyond which the oldest are deleted; None for no
            limit.
        keep_traces_seconds: maximum age of spans; None for no limit.
        keep_traces_bytes: maximum bytes of all spans, beyond which the oldest are deleted; None for
            no limit.
        keep_roles_seconds: age after which totals by role are deleted; None to keep none.
        roles_store: address of the store of totals by role; None for the runs directory.
        part_seconds: duration after which the next key frame closes a part of a run.
        part_bytes: maximum bytes of a part.
        resume_seconds: maximum time that an interrupted run waits for its target.
        ended_targets: maximum number of ended targets in the list.
        queue_frames: maximum queued frames per subscriber before coalescing.
        queue_bytes: maximum bytes of queued frames per subscriber.
        merged_bytes: maximum bytes of a coalesced frame; beyond it frames are dropped and counted.
        stall_seconds: time without progress after which a subscriber is disconnected.
        max_connections: maximum TCP connections, reduced by the system's limit on open files; a
            quarter for one peer, a quarter without a session.
        waits: deadlines of peers.
        max_subscribers: maximum connected subscribers.
        max_viewer_subscribers: maximum viewers among them, so that operators always find room.
        max_collectors: maximum connected collectors.
        hello_seconds: timeout for a collector's hello.
        command_seconds: timeout for a collector's reply.
        doctor_seconds: timeout for the doctor, which runs a self-test.
        max_body_bytes: maximum bytes of an HTTP request body.
        max_message_bytes: maximum bytes of a WebSocket message.
        max_command_bytes: maximum bytes of a subscriber's message.
        max_import_bytes: maximum bytes of an imported run's archive.
        max_traces_bytes: maximum bytes of an imported trace document.
        spans_token: bearer token of span senders.
        span_ports: ports of the span receivers; None to disable.
        predictd: socket of the host's prediction service.
        slow_unwatched_seconds: time after which a target that nobody looks at is sampled once a
            second.
        detach_unwatched_seconds: time after which it is detached; None for never.
        debug_files: where debug files are fetched from; None to fetch none.
        fleet: NATS servers over which hosts are found; None to find none.
        otlp_endpoint: base address for metrics by OTLP; None to disable.
        otlp_seconds: interval between exports.
    """

    token: str = field(repr=False)
    collector_secret: str = field(repr=False)
    view_token: str = field(default_factory=new_secret, repr=False)
    metrics_token: str | None = field(default=None, repr=False)
    state_dir: Path | None = None
    session_idle_seconds: float = 24 * HOUR
    session_seconds: float = 30 * 24 * HOUR
    host: str = DEFAULT_HOST
    port: int = DEFAULT_PORT
    allow_hosts: tuple[str, ...] = ()
    allow_origins: tuple[str, ...] = ()
    trusted_proxies: tuple[str, ...] = ()
    ended_descriptor: int | None = None
    ring_descriptor: int | None = None
    web_dir: Path = Path(__file__).parent / "web"
    history_bytes: int = 32 * MIB
    history_total_bytes: int = 80 * MIB
    history_seconds: float = 300
    runs_dir: Path | None = None
    experiment_dirs: tuple[Path, ...] = ()
    keep_runs_seconds: float | None = None
    keep_runs_bytes: int | None = None
    keep_traces_seconds: float | None = 7 * 24 * HOUR
    keep_traces_bytes: int | None = 1024 * MIB
    keep_roles_seconds: float | None = None
    roles_store: str | None = None
    part_seconds: float = RUN_PART_SECONDS
    part_bytes: int = RUN_PART_BYTES
    resume_seconds: float = 30
    ended_targets: int = 50
    queue_frames: int = 32
    queue_bytes: int = 8 * MIB
    merged_bytes: int = 16 * MIB
    stall_seconds: float = 30
    max_connections: int = 1024
    waits: Waits = field(default_factory=Waits)
    max_subscribers: int = 32
    max_viewer_subscribers: int = 24
    max_collectors: int = 64
    hello_seconds: float = 5
    command_seconds: float = 15
    doctor_seconds: float = 20
    max_body_bytes: int = MAX_BODY_BYTES
    max_message_bytes: int = MAX_FRAME_BYTES
    max_command_bytes: int = MAX_PAGE_COMMAND_BYTES
    max_import_bytes: int = MAX_IMPORT_BYTES
    max_traces_bytes: int = MAX_TRACES_BYTES
    spans_token: str = field(default_factory=new_secret)
    span_ports: SpanPorts | None = None
    predictd: Path = SYSTEM_SOCKET
    slow_unwatched_seconds: float = 60
    detach_unwatched_seconds: float | None = 8 * HOUR
    debug_files: DebugFileSettings | None = None
    fleet: FleetSettings | None = None
    otlp_endpoint: str | None = None
    otlp_seconds: float = 10


def settings_from(
    environ: Mapping[str, str],
    host: str = DEFAULT_HOST,
    allow_hosts: tuple[str, ...] = (),
    allow_origins: tuple[str, ...] = (),
    keep_runs_seconds: float | None = None,
    keep_runs_bytes: int | None = None,
) -> Settings:
    """Read secrets and folders from the environment; missing secrets are generated.

    Raises:
        SettingsError: a secret is too short, or two tokens are equal.
    """
    token, view_token = _secret(environ, BROWSER_VARIABLE), _secret(environ, VIEW_VARIABLE)
    metrics_token = _secret(environ, METRICS_VARIABLE) if environ.get(METRICS_VARIABLE) else None
    if token == view_token:
        raise SettingsError(f"{VIEW_VARIABLE} is the same as {BROWSER_VARIABLE}; give another one")
    if metrics_token in (token, view_token):
        raise SettingsError(f"{METRICS_VARIABLE} is the same as another token; give another one")
    spans_token = _secret(environ, SPANS_VARIABLE)
    if spans_token in (token, view_token, metrics_token):
        raise SettingsError(f"{SPANS_VARIABLE} is the same as another token; give another one")
    return Settings(
        token=token,
        view_token=view_token,
        collector_secret=_collector_secret(environ),
        metrics_token=metrics_token,
        spans_token=spans_token,
        state_dir=state_directory(environ),
        host=host,
        allow_hosts=allow_hosts,
        allow_origins=allow_origins,
        predictd=Path(environ.get(PREDICTD_VARIABLE) or SYSTEM_SOCKET),
        otlp_endpoint=_otlp_endpoint(environ),
        runs_dir=runs_directory(environ),
        experiment_dirs=tuple(
            Path(one)
            for one in environ.get(EXPERIMENTS_VARIABLE, "").split(":")
            if one.startswith("/")
        ),
        keep_runs_seconds=keep_runs_seconds,
        keep_runs_bytes=keep_runs_bytes,
    )


def take_secrets() -> dict[str, str]:
    """Return the environment including secrets, and erase the secrets from this process.

    Afterwards neither /proc/PID/environ nor child processes have the secrets.
    """
    found = {name: take_variable(name) for name in SECRET_VARIABLES if name in os.environ}
    return {**os.environ, **found}


def runs_directory(environ: Mapping[str, str]) -> Path | None:
    """Return the folder of runs: the variable's, or the user's data folder; None without both.

    Relative paths of XDG_DATA_HOME are ignored, as its specification requires.
    """
    given, data = environ.get(RUNS_VARIABLE, ""), environ.get("XDG_DATA_HOME", "")
    home = environ.get("HOME", "")
    if given:
        return Path(given).absolute()
    if data.startswith("/"):
        return Path(data) / "tidscope" / "runs"
    return Path(home) / ".local" / "share" / "tidscope" / "runs" if home.startswith("/") else None


def state_directory(environ: Mapping[str, str]) -> Path | None:
    """Return the backend's folder in the user's state folder; None if there is none."""
    state, home = environ.get("XDG_STATE_HOME", ""), environ.get("HOME", "")
    if state.startswith("/"):
        return Path(state) / "tidscope"
    return Path(home) / ".local" / "state" / "tidscope" if home.startswith("/") else None


def cache_directory(environ: Mapping[str, str]) -> Path | None:
    """Return the backend's folder in the user's cache folder; None if there is none."""
    cache, home = environ.get("XDG_CACHE_HOME", ""), environ.get("HOME", "")
    if cache.startswith("/"):
        return Path(cache) / "tidscope"
    return Path(home) / ".cache" / "tidscope" if home.startswith("/") else None


def token_directory(environ: Mapping[str, str]) -> Path | None:
    """Return the folder in which a backend offers its token to its user; None if there is none."""
    given = environ.get("XDG_RUNTIME_DIR", "")
    runtime = Path(given) if given.startswith("/") else Path(f"/run/user/{os.geteuid()}")
    return runtime / "tidscope" if runtime.is_dir() else state_directory(environ)


def _otlp_endpoint(environ: Mapping[str, str]) -> str | None:
    endpoint = environ.get(OTLP_VARIABLE) or None
    if endpoint is not None:
        try:
            metrics_address(endpoint)
        except ValueError as error:
            raise SettingsError(f"{OTLP_VARIABLE}: {error}") from None
    return endpoint


def _collector_secret(environ: Mapping[str, str]) -> str:
    """Return the secret of the host `default`; a generated one needs no key stretching."""
    if not environ.get(COLLECTOR_VARIABLE):
        return host_secret(DEFAULT_HOST_NAME, secrets.token_bytes(KEY_BYTES))
    secret = _secret(environ, COLLECTOR_VARIABLE)
    name = host_name(secret)
    if name != DEFAULT_HOST_NAME:
        raise SettingsError(
            f"{COLLECTOR_VARIABLE} is the secret of host {name}: give it to the collector there; "
            "the backend knows it by itself"
        )
    return secret


def _secret(environ: Mapping[str, str], name: str) -> str:
    value = environ.get(name, "")
    if not value:
        return new_secret()
    if len(value) < MIN_SECRET:
        raise SettingsError(
            f"{name} has {len(value)} characters; give at least {MIN_SECRET}, "
            "or leave it out to have one made"
        )
    return value


METRICS_PATH = "/v1/metrics"
"""Path below the base address (OTLP specification, OTLP/HTTP)."""


def metrics_address(endpoint: str) -> str:
    """Return the address for metrics; a base address gets the standard path.

    Raises:
        ValueError: the address is not an HTTP server's.
    """
    parts = urlsplit(endpoint)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0:
        raise ValueError(f"{endpoint!r} is no address such as http://localhost:4318")
    if parts.path in ("", "/"):
        return parts._replace(path=METRICS_PATH).geturl()
    return endpoint
