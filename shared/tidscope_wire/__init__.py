"""Data that crosses process boundaries: generated models, the field catalogue, the frame codec.

The JSON Schemas in `shared/schemas/`, one file for each topic, are the source; `make generate`
writes `generated/` from them.
"""

PROTOCOL_VERSION = 1
"""Version of the messages between collector, backend and page."""
