"""The usual tick as compiled code, and the structs that it is called with."""
