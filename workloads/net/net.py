"""Bytes over loopback by iperf3: the server stays, the client runs during measurements."""

import argparse
import json
import signal
import socket
from collections.abc import Mapping, Sequence
from typing import Any

from generated import output_of, serve, started, whole_seconds

HOST = "127.0.0.1"
MODES = {"forward": (), "zerocopy": ("-Z",), "reverse": ("-R",), "bidirectional": ("--bidir",)}


def main() -> None:
    """Serve until the end of the input."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--connections", type=int, required=True)
    parser.add_argument("--protocol", choices=["tcp", "udp"], required=True)
    parser.add_argument("--mode", choices=MODES, required=True)
    parser.add_argument("--block-kib", type=int, required=True)
    parser.add_argument("--window-kib", type=int, required=True)
    parser.add_argument("--warm-up", type=float, required=True)
    parser.add_argument("--measure", type=float, required=True)
    options = parser.parse_args()
    with socket.create_server((HOST, 0)) as unused:
        port = unused.getsockname()[1]
    server = started(["iperf3", "--server", f"--port={port}", f"--bind={HOST}", "--forceflush"])
    try:
        lines = server.stdout or ()
        # The server prints its second line once it listens.
        if not any("listening" in line for line in lines):
            output_of(server)
        if options.warm_up > 0:
            output_of(started(_command(options, port, options.warm_up)))
        block_bytes = options.block_kib * 1024
        serve(
            lambda: started(_command(options, port, options.measure)),
            lambda said: figures(json.loads(said), block_bytes),
        )
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait()


def _command(options: argparse.Namespace, port: int, seconds: float) -> Sequence[str]:
    return [
        *("iperf3", "--client", HOST, f"--port={port}", "--json"),
        *(f"--parallel={options.connections}", f"--time={whole_seconds(seconds)}"),
        *(f"--length={options.block_kib}K", *MODES[options.mode]),
        *(("--udp", "--bitrate=0") if options.protocol == "udp" else ()),
        *((f"--window={options.window_kib}K",) if options.window_kib else ()),
    ]


def figures(said: Mapping[str, Any], block_bytes: int) -> dict[str, float]:
    """Return the client's figures: received bytes as blocks, in both directions if both sent."""
    end = said["end"]
    arrived = [
        end[name]
        for name in ("sum_received", "sum_received_bidir_reverse")
        if end.get(name, {}).get("bytes")
    ] or [end["sum"]]
    moved = sum(one["bytes"] for one in arrived)
    elapsed_s = max(one["seconds"] for one in arrived)
    found = {
        "ops": moved / block_bytes,
        "elapsed_s": elapsed_s,
        "moved_bytes": moved / elapsed_s,
    }
    datagrams = end.get("sum", {})
    if "jitter_ms" in datagrams:
        found |= {
            "jitter_us": datagrams["jitter_ms"] * 1e3,
            "lost_share": datagrams["lost_percent"] / 100,
        }
    return found


if __name__ == "__main__":
    main()
