"""Receivers of spans: OTLP over HTTP and over gRPC, on ports of this machine."""
