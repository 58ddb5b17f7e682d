-- Writes what wrk counted as one line of JSON, the last of its output. Times in microseconds.
done = function(summary, latency, requests)
  local errors = summary.errors
  local failed = errors.connect + errors.read + errors.write + errors.status + errors.timeout
  io.write(string.format(
    '\n{"requests": %d, "duration_us": %d, "bytes": %d, "errors": %d, "mean_us": %.3f, '
      .. '"deviation_us": %.3f, "p50_us": %.1f, "p95_us": %.1f, "p99_us": %.1f}\n',
    summary.requests, summary.duration, summary.bytes, failed, latency.mean, latency.stdev,
    latency:percentile(50), latency:percentile(95), latency:percentile(99)))
end
