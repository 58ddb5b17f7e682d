"""The processes of this host: list, identity, runtime, ports."""
