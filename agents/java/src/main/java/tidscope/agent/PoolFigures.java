package tidscope.agent;

/** Figures of a pool in an answer; null for figures that this kind of pool lacks. */
record PoolFigures(
    Long submitted,
    Long started,
    Long finished,
    Long failed,
    Long responseNs,
    Long runNs,
    Long queueWaitNs,
    Long idleNs,
    Long steals,
    long[] response,
    long[] queueWait) {

  /** Returns figures of a pool that knows only its finished jobs and steals. */
  static PoolFigures of(Long finished, Long steals) {
    return new PoolFigures(null, null, finished, null, null, null, null, null, steals, null, null);
  }

  /** An element of {@code read_pools}. */
  String element(String name, String kind, Long size, Long busy, Long queue) {
    return "{\"name\":" + Json.quote(name) + ",\"kind\":" + Json.quote(kind) + ",\"size\":" + size
        + ",\"busy\":" + busy + ",\"queue\":" + queue + ",\"submitted\":" + submitted
        + ",\"started\":" + started + ",\"finished\":" + finished + ",\"failed\":" + failed
        + ",\"response_ns\":" + responseNs + ",\"run_ns\":" + runNs + ",\"queue_wait_ns\":"
        + queueWaitNs + ",\"idle_ns\":" + idleNs + ",\"parks\":null,\"steals\":" + steals
        + ",\"polls\":null,\"response\":" + trimmed(response) + ",\"queue_wait\":"
        + trimmed(queueWait) + "}";
  }

  /** Returns a histogram without trailing zeros. */
  private static String trimmed(long[] counts) {
    if (counts == null) {
      return "null";
    }
    int end = counts.length;
    while (end > 0 && counts[end - 1] == 0) {
      end--;
    }
    StringBuilder text = new StringBuilder("[");
    for (int b = 0; b < end; b++) {
      text.append(b == 0 ? "" : ",").append(counts[b]);
    }
    return text.append("]").toString();
  }
}
