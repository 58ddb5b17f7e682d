package tidscope.agent;

/**
 * Lease of a size that a client set and must renew.
 *
 * <p>The lease outlives its client's connection, so that a restarted collector can continue. Until
 * it expires, another client may take it only if that connection is closed. Used by the agent's
 * thread alone.
 */
final class Lease {
  final Steerable pool;
  final int lower;
  final int upper;
  final int original;

  private Object holder;
  private boolean active;
  private long deadlineNs;

  Lease(Steerable pool, int lower, int upper) {
    this.pool = pool;
    this.lower = lower;
    this.upper = upper;
    this.original = pool.wanted();
  }

  void set(Object client, int size, double seconds) throws Failure {
    if (holder != null && holder != client) {
      throw new Failure(Failure.BUSY, "another client steers; its lease must end first");
    }
    if (size < lower || size > upper) {
      throw new Failure(
          Failure.BOUNDS,
          "size " + size + " is not within the bounds, " + lower + " to " + upper);
    }
    holder = client;
    active = true;
    deadlineNs = System.nanoTime() + (long) (seconds * 1e9);
    pool.resize(size);
  }

  /** Restores the original size, whichever client changed it. */
  void release() {
    if (active) {
      pool.resize(original);
    }
    holder = null;
    active = false;
  }

  /** Notes that a client has disconnected; its lease continues. */
  void forget(Object client) {
    if (holder == client) {
      holder = null;
    }
  }

  /** Milliseconds until expiry, rounded up; 0 without a lease. Releases an expired one. */
  long leftMs() {
    if (!active) {
      return 0;
    }
    long leftNs = deadlineNs - System.nanoTime();
    if (leftNs > 0) {
      return leftNs / 1_000_000 + 1;
    }
    release();
    return 0;
  }
}
