"""How threads are named and put into roles."""

from dataclasses import dataclass

from tidscope_wire.generated.models import RoleRule


@dataclass(frozen=True)
class NamingOptions:
    """What is asked for.

    Attributes:
        ask_programs: whether programs are asked for the names of their threads.
        role_rules: by which threads have roles, before the general one.
    """

    ask_programs: bool = False
    role_rules: tuple[RoleRule, ...] = ()


KERNEL_NAMES = NamingOptions()
