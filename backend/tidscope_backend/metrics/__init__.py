"""/metrics for Prometheus: totals by role of each target, and tidscope's own health."""
