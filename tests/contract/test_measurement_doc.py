"""docs/measurement.md lists the fields of the catalogue, each with its unit and source."""

from pathlib import Path

from tidscope_wire.generated.catalogue import CATALOGUE

PAGE = Path(__file__).parent.parent.parent / "docs" / "measurement.md"


def test_table_of_fields_is_the_catalogue() -> None:
    reported = [
        [cell.strip().strip("`") for cell in line.split("|")[1:-1]]
        for line in PAGE.read_text().partition("\n## Fields\n")[2].splitlines()
        if line.startswith("| `")
    ]
    assert reported == [
        [field.name, field.unit, field.provenance, field.taskstats or "", field.procfs or ""]
        for field in CATALOGUE.fields
    ]
