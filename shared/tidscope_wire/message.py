"""The base of all messages: what the generated models have in common."""

from pydantic import BaseModel, ConfigDict


class Message(BaseModel):
    """A message, or a part of one. It holds no number that JSON does not have.

    Without this, pydantic takes NaN, Infinity and 1e999 for numbers and writes them as null, which
    the other side then refuses. Schemas are built at their first use: a process uses few of them.
    """

    model_config = ConfigDict(allow_inf_nan=False, defer_build=True)
