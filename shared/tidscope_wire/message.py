"""The base of all messages: what the generated models have in common."""

from typing import Any

from pydantic import BaseModel, ConfigDict


class Message(BaseModel):
    """A message, or a part of one. It holds no number that JSON does not have.

    Without this, pydantic takes NaN, Infinity and 1e999 for numbers and writes them as null, which
    the other side then refuses.

    A validator is built when its message is first used: no process uses all of them, and building
    them takes about half of the time in which the models load.
    """

    model_config = ConfigDict(allow_inf_nan=False, defer_build=True)

    @classmethod
    def __pydantic_init_subclass__(cls, **_: Any) -> None:
        """Defer only this validator: FastAPI expects that those of its routes are built at once."""
        cls.model_config["defer_build"] = False


def build_validators() -> None:
    """Build those of all messages, for a process that uses most of them.

    Parts come first, so that none is built once more within each message that has it.
    """
    for message in Message.__subclasses__():
        message.model_rebuild()
