"""Traces of requests, and the critical path that determines the duration of each.

Pure: no I/O, no clock, no other tidscope package. `spans` has the model and the readers of Jaeger
and OTLP documents. `critical` has the critical path of one trace, `summary` the common properties
of many traces. `anomalies` finds traces that differ from the rest.

Source: Z. Zhang and others, CRISP: critical path analysis of large-scale microservice architectures
(USENIX ATC 2022). Different or more exact rules: docs/decisions/0034-rules-of-the-critical-path.md.
"""
