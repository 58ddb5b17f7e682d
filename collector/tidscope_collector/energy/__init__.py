"""Energy that RAPL counts, read through the powercap tree of /sys."""
