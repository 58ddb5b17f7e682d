"""Receivers of spans: OTLP over HTTP and gRPC, on ports of this machine."""
