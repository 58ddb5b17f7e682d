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
 * Registry of the program's pools that collectors read, by name.
 *
 * <p>Each {@link SteeredThreadPool} registers itself. Other pools are registered here, with the
 * figures that they provide:
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

  /** A pool that returns all its figures on request. */
  private interface Watched {
    String element(String name);
  }

  /** Pools of one name: the live ones, and the counters of ended ones. */
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
        // Not size(): an ending pool holds its lock while it calls end().
        size += Math.max(pool.wanted(), reading.workers());
        busy += reading.busy();
        queue += pool.getQueue().size();
        total.add(reading.figures());
      }
      return total.members().element(name, "threads", size, busy, queue);
    }
  }

  /** Reports an executor under a name: its size and its finished jobs. */
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

  /** Reports a fork-join pool under a name; finished tasks are unknown. */
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
   * Reports the carrier threads of virtual threads.
   *
   * @return true if this version of Java provides figures
   */
  public static boolean watchCarriers() {
    if (carriers("carriers") == null) {
      return false;
    }
    watch("carriers", Pools::carriers);
    return true;
  }

  /** Figures of the carriers, or null if this version of Java provides none. */
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

  /** Returns a figure of the bean, or null if it is negative, which means unknown. */
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

  /** Removes an ended pool and keeps its counters. */
  static synchronized void end(SteeredThreadPool pool) {
    for (Steered known : STEERED.values()) {
      if (known.pools.remove(pool)) {
        known.past.add(pool.read().figures());
      }
    }
  }

  /** Returns the number of jobs that all steered pools finished. */
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

  /** Returns the answer to {@code read_pools}, without the time. */
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
