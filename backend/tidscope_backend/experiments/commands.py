"""What is built of an experiment before anything is measured."""

from collections.abc import Mapping
from pathlib import Path

from tidscope_backend.experiments.building import Command, build, build_environment, check_needs
from tidscope_backend.experiments.definition import Definition, ProgramChoice
from tidscope_backend.experiments.errors import ExperimentError
from tidscope_backend.experiments.load import check_generator
from tidscope_backend.experiments.workload import Value


class Commands:
    """How programs and loads are started."""

    def __init__(self) -> None:
        self._programs: dict[tuple[str, str], Command] = {}
        self._loads: dict[str, Command] = {}

    def program(self, choice: ProgramChoice, values: Mapping[str, Value]) -> Command:
        """That of the program that these values choose."""
        return self._programs[choice.workload.name, _chosen(choice, values)]

    def load(self, choice: ProgramChoice) -> Command:
        """That of a load that is a program of the workload."""
        return self._loads[choice.workload.name]

    def build(self, choice: ProgramChoice, values: Mapping[str, Value]) -> None:
        """Build the program that these values choose, and its load. Raises ExperimentError."""
        workload, environment = choice.workload, build_environment()
        program = workload.program(values)
        built = build(workload, program, environment)
        self._programs[workload.name, _chosen(choice, values)] = built
        load = None if workload.spec.load is None else workload.spec.load.program
        if load is not None and workload.name not in self._loads:
            self._loads[workload.name] = build(workload, load, environment)


def _chosen(choice: ProgramChoice, values: Mapping[str, Value]) -> str:
    chooser = choice.workload.chooser
    return str(values[chooser]) if chooser else ""


def prepare(definition: Definition) -> Commands:
    """Build all programs of all cells before anything is measured.

    Raises:
        ExperimentError: a toolchain, a load generator or another program is missing.
    """
    commands = Commands()
    for choice in definition.programs:
        check_generator(choice.workload)
        check_needs(choice.workload)
        chooser = choice.workload.chooser
        for value in definition.axes.get(chooser) or [choice.values.get(chooser, "")]:
            values = {**choice.values, chooser: value} if chooser else choice.values
            _check_files(choice, values)
            commands.build(choice, values)
    return commands


def _check_files(choice: ProgramChoice, values: Mapping[str, Value]) -> None:
    for name, spec in choice.workload.spec.parameters.items():
        if not spec.is_path:
            continue
        path, what = Path(str(values[name])), "folder" if spec.folder else "file"
        if not (path.is_dir() if spec.folder else path.is_file()):
            raise ExperimentError(
                f"{choice.workload.name}: {name}: there is no {what} {path}; make it, or name "
                "another"
            )
