"""The processes that are sampled, and the sources that their samples come from."""
