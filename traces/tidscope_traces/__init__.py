"""Traces of requests, and the path through each that made it take its time.

Pure: no I/O, no clock, none of our other packages. `spans` has the model and the readers of Jaeger
and OTLP documents, `critical` the critical path of one trace, `summary` what many traces have in
common, `anomalies` which of them are unlike the others.

Source: Z. Zhang and others, CRISP: critical path analysis of large-scale microservice
architectures (USENIX ATC 2022). Where the rules differ or are more exact:
docs/decisions/0034-rules-of-the-critical-path.md.
"""
