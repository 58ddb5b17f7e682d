"""An engine with its targets, as the collector joins them."""

from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.sampling.engine import Engine
from tidscope_collector.targets.sources import Sources
from tidscope_collector.targets.targets import TargetRegistry
from tidscope_wire.generated.models import Target


def engine_of(sources: Sources, host: str = "h-000000000000") -> tuple[Engine, TargetRegistry]:
    """An engine, not yet started, and the targets that it samples."""

    def changed(target: Target) -> None:
        targets.update(target)

    engine = Engine(sources.native, changed)
    targets = TargetRegistry(host, ProcFs(), sources, engine)
    return engine, targets
