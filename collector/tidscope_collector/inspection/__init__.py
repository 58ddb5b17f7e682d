"""Inspection: files and memory of other processes, read by limited children.

Modules that answer run in a child of the fork server (`questions`) and load no Pydantic. Modules
that ask (`asking`, `reader`, `lock_answers`, `conversation`, `own_server`) run in the collector.
"""
