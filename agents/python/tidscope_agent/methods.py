"""What an agent answers to each method."""

import os

from tidscope_agent.lease import Lease
from tidscope_agent.protocol import METHOD, PARAMS, VERSION, Call, FailureError, parse_set
from tidscope_agent.registry import POOLS


def answer(lease: Lease, client: object, call: Call, monotonic_ns: int) -> dict[str, object]:
    """The result of a call.

    Args:
        lease: of the pool.
        client: who calls.
        call: what is asked.
        monotonic_ns: the time.

    Raises:
        FailureError: it is refused.
    """
    if call.method == "set":
        lease.set(client, *parse_set(call.params))
        return _sizes(lease)
    if call.method not in ("hello", "read", "read_pools", "release"):
        raise FailureError(METHOD, f"there is no method {call.method[:40]!r}")
    if call.has_params:
        raise FailureError(PARAMS, f"{call.method} takes no parameters")
    if call.method == "hello":
        return _hello(lease)
    if call.method == "read":
        counts = lease.pool.counts()
        return {
            "ops": counts.ops,
            "size": counts.size,
            "queue_wait_ns": counts.queue_wait_ns,
            "queue_waits": counts.queue_waits,
            "monotonic_ns": monotonic_ns,
        }
    if call.method == "read_pools":
        pools, omitted = POOLS.answer()
        return {"pools": pools, "omitted": omitted, "monotonic_ns": monotonic_ns}
    lease.release()
    return _sizes(lease)


def _hello(lease: Lease) -> dict[str, object]:
    return {
        "pid": os.getpid(),
        "runtime": "python",
        "version": VERSION,
        "protocol": 2,
        "knob": lease.pool.knob,
        "lower": lease.lower,
        "upper": lease.upper,
        "size": lease.pool.counts().size,
        "original": lease.original,
    }


def _sizes(lease: Lease) -> dict[str, object]:
    return {"size": lease.pool.counts().size, "wanted": lease.pool.wanted}
