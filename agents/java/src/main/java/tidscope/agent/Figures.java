package tidscope.agent;

/** Cumulative figures of a pool, in the form that collectors read. Thread-safe. */
final class Figures {
  static final int BUCKETS = 32;
  private static final int LOWEST_BITS = 10;

  private long submitted;
  private long started;
  private long finished;
  private long failed;
  private long responseNs;
  private long runNs;
  private long queueWaitNs;
  private long idleNs;
  private final long[] response = new long[BUCKETS];
  private final long[] queueWait = new long[BUCKETS];

  private int workers;
  private int busy;
  private long idleSinceNs = System.nanoTime();

  /** Figures, workers and busy workers, read at one moment. */
  record Reading(int workers, int busy, Figures figures) {}

  synchronized void submit() {
    submitted++;
  }

  /** Counts a worker thread that starts or ends. */
  synchronized void countWorkers(int change) {
    countIdle();
    workers += change;
  }

  /** Counts a started job. Returns its start time, from System.nanoTime(). */
  synchronized long start(long queuedNs) {
    long nowNs = countIdle();
    busy++;
    started++;
    queueWaitNs += nowNs - queuedNs;
    queueWait[bucketOf(nowNs - queuedNs)]++;
    return nowNs;
  }

  synchronized void finish(long queuedNs, long startedNs, boolean hasFailed) {
    long nowNs = countIdle();
    busy--;
    finished++;
    failed += hasFailed ? 1 : 0;
    responseNs += nowNs - queuedNs;
    runNs += nowNs - startedNs;
    response[bucketOf(nowNs - queuedNs)]++;
  }

  synchronized long finished() {
    return finished;
  }

  synchronized long started() {
    return started;
  }

  synchronized long queueWaitNs() {
    return queueWaitNs;
  }

  synchronized Reading read() {
    countIdle();
    Figures copy = new Figures();
    copy.add(this);
    return new Reading(workers, busy, copy);
  }

  /** Adds the figures of another pool, which must not change meanwhile. */
  void add(Figures other) {
    submitted += other.submitted;
    started += other.started;
    finished += other.finished;
    failed += other.failed;
    responseNs += other.responseNs;
    runNs += other.runNs;
    queueWaitNs += other.queueWaitNs;
    idleNs += other.idleNs;
    for (int b = 0; b < BUCKETS; b++) {
      response[b] += other.response[b];
      queueWait[b] += other.queueWait[b];
    }
  }

  /** Returns the counters of an element of {@code read_pools}. */
  PoolFigures members() {
    return new PoolFigures(
        submitted, started, finished, failed, responseNs, runNs, queueWaitNs, idleNs, null,
        response, queueWait);
  }

  /** Bucket b counts times below 2^(b+10) ns. */
  static int bucketOf(long ns) {
    return Math.min(64 - Long.numberOfLeadingZeros(Math.max(0, ns) >> LOWEST_BITS), BUCKETS - 1);
  }

  private long countIdle() {
    long nowNs = System.nanoTime();
    idleNs += Math.max(0, workers - busy) * (nowNs - idleSinceNs);
    idleSinceNs = nowNs;
    return nowNs;
  }
}
