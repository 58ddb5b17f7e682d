"""How much a pool does at every size: measured by a sweep, with its doubt. Pure."""
