package tidscope.agent;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ThreadPoolExecutor;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/**
 * The pools of the program that collectors read, by name.
 *
 * <p>Each {@link SteeredThreadPool} is among them. Others are reported as they are, with what they
 * know of themselves:
 *
 * <pre>{@code
 * Pools.watch("common", ForkJoinPool.commonPool());
 * Pools.watch("reports", executor);
 * Pools.watchCarriers(); // of virtual threads, from Java 24 on
 * }</pre>
 */
public final class Pools {
  static final int MAX_NAMES = 32;
  private static final int LONGEST_NAME = 64;
  private static final String CARRIERS = "jdk.management:type=VirtualThreadScheduler";

  private static final Map<String, Steered> STEERED = new LinkedHashMap<>();
  private static final Map<String, Watched> WATCHED = new LinkedHashMap<>();
  private static final Set<String> OMITTED = new HashSet<>();

  private Pools() {}

  /** A pool that says all of itself whenever it is asked. */
  private interface Watched {
    String element(String name);
  }

  /** Pools of one name: those there are, and what those that ended did. */
  private static final class Steered {
    final List<SteeredThreadPool> pools = new ArrayList<>();
    final Figures past = new Figures();

    String element(String name) {
      long size = 0;
      long busy = 0;
      long queue = 0;
      Figures total = new Figures();
      total.add(past);
      for (SteeredThreadPool pool : pools) {
        Figures.Reading reading = pool.read();
        // Not size(): its lock is held where a pool that ends calls end().
        size += Math.max(pool.wanted(), reading.workers());
        busy += reading.busy();
        queue += pool.getQueue().size();
        total.add(reading.figures());
      }
      return total.members().element(name, "threads", size, busy, queue);
    }
  }

  /** Reports a pool of one's own under a name; its size, and what it finished. */
  public static void watch(String name, ThreadPoolExecutor pool) {
    watch(
        name,
        unique ->
            PoolFigures.of(pool.getCompletedTaskCount(), null)
                .element(
                    unique,
                    "threads",
                    (long) pool.getMaximumPoolSize(),
                    (long) pool.getActiveCount(),
                    (long) pool.getQueue().size()));
  }

  /** Reports a pool of fork and join under a name; how many tasks it finished it does not say. */
  public static void watch(String name, ForkJoinPool pool) {
    watch(
        name,
        unique ->
            PoolFigures.of(null, pool.getStealCount())
                .element(
                    unique,
                    "fork-join",
                    (long) pool.getParallelism(),
                    (long) pool.getActiveThreadCount(),
                    pool.getQueuedTaskCount() + pool.getQueuedSubmissionCount()));
  }

  /**
   * Reports the threads that carry virtual threads.
   *
   * @return whether this Java says anything of them
   */
  public static boolean watchCarriers() {
    if (carriers("carriers") == null) {
      return false;
    }
    watch("carriers", Pools::carriers);
    return true;
  }

  /** Null where this Java does not say. */
  private static String carriers(String name) {
    try {
      MBeanServer server = ManagementFactory.getPlatformMBeanServer();
      ObjectName bean = new ObjectName(CARRIERS);
      return PoolFigures.of(null, null)
          .element(
              name,
              "carriers",
              number(server.getAttribute(bean, "Parallelism")),
              number(server.getAttribute(bean, "MountedVirtualThreadCount")),
              number(server.getAttribute(bean, "QueuedVirtualThreadCount")));
    } catch (JMException absent) {
      return null;
    }
  }

  /** Null for what is not known, which the bean says by a negative number. */
  private static Long number(Object value) {
    return value instanceof Number number && number.longValue() >= 0 ? number.longValue() : null;
  }

  private static synchronized void watch(String name, Watched pool) {
    String short_ = shortened(name);
    if (hasRoom(short_)) {
      WATCHED.put(short_, pool);
    }
  }

  static synchronized void add(String name, SteeredThreadPool pool) {
    String short_ = shortened(name);
    if (hasRoom(short_)) {
      STEERED.computeIfAbsent(short_, unused -> new Steered()).pools.add(pool);
    }
  }

  /** A pool does nothing any more: what it did stays. */
  static synchronized void end(SteeredThreadPool pool) {
    for (Steered known : STEERED.values()) {
      if (known.pools.remove(pool)) {
        known.past.add(pool.read().figures());
      }
    }
  }

  /** Jobs that all steered pools finished. */
  static synchronized long finished() {
    long sum = 0;
    for (Steered known : STEERED.values()) {
      sum += known.past.finished();
      for (SteeredThreadPool pool : known.pools) {
        sum += pool.ops();
      }
    }
    return sum;
  }

  /** Members of the answer to {@code read_pools}, without the time. */
  static synchronized String answer() {
    List<String> elements = new ArrayList<>();
    STEERED.forEach((name, pools) -> elements.add(pools.element(name)));
    WATCHED.forEach(
        (name, pool) -> {
          String element = STEERED.containsKey(name) ? null : pool.element(name);
          if (element != null) {
            elements.add(element);
          }
        });
    return "\"pools\":[" + String.join(",", elements) + "],\"omitted\":" + OMITTED.size();
  }

  private static boolean hasRoom(String name) {
    boolean known = STEERED.containsKey(name) || WATCHED.containsKey(name);
    if (known || STEERED.size() + WATCHED.size() < MAX_NAMES) {
      return true;
    }
    OMITTED.add(name);
    return false;
  }

  private static String shortened(String name) {
    if (name.isEmpty()) {
      return "pool";
    }
    int characters = Math.min(LONGEST_NAME, name.codePointCount(0, name.length()));
    return name.substring(0, name.offsetByCodePoints(0, characters));
  }
}
