"""Totals by role of all hosts, kept as an Apache Iceberg table that any engine can read.

The backend writes small Parquet parts; one committer at a time moves them into the table, in a
process of its own; DuckDB reads both (docs/fleet.md).
"""
