"""The collector's end of the agent protocol (docs/agents.md)."""
