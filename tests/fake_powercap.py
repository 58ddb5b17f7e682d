"""Builds the powercap tree of a /sys of files."""

from pathlib import Path

RANGE_UJ = 262_143_328_850
"""What most Intel packages have: 32 bits of 61 µJ."""


class FakePowercap:
    """Zones below a folder, as /sys has them: folders by device, and links to them by class."""

    def __init__(self, root: Path) -> None:
        self.sys = root
        (root / "class/powercap").mkdir(parents=True)

    def zone(
        self, entry: str, name: str, energy_uj: int = 0, *, range_uj: int = RANGE_UJ
    ) -> "FakePowercap":
        """Add a zone, such as intel-rapl:0:1."""
        folder = self.folder(entry)
        folder.mkdir(parents=True)
        (folder / "name").write_text(f"{name}\n")
        (folder / "max_energy_range_uj").write_text(f"{range_uj}\n")
        self.set(entry, energy_uj)
        (self.sys / "class/powercap" / entry).symlink_to(folder)
        return self

    def folder(self, entry: str) -> Path:
        """Where a zone's files are."""
        return self.sys / "devices/virtual/powercap" / entry

    def set(self, entry: str, energy_uj: int) -> None:
        """Give a counter another value, as the same file."""
        (self.folder(entry) / "energy_uj").write_text(f"{energy_uj}\n")
