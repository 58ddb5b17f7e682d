import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import tidscope.agent.Agent;
import tidscope.agent.SteeredThreadPool;

/**
 * A pool of threads that serves the requests of a trace, again and again.
 *
 * <p>Each request computes for its time, in a loop that was calibrated, and sleeps for a multiple of
 * it.
 */
public final class PoolTrace {
  private static final double LOOPS = 1e6;
  private static final int TRIES = 25;
  private static volatile double sink;

  private final AtomicLong ops = new AtomicLong();
  private final AtomicLong waits = new AtomicLong();
  private final AtomicLong waitedNs = new AtomicLong();
  private volatile long beganNs = System.nanoTime();

  private PoolTrace() {}

  /** A line of the trace; times in µs. */
  private record Request(int id, int application, long start, long execution) {}

  /**
   * Serves until the end of the input.
   *
   * <p>Arguments: trace, size, upper, free workload, queue, load.
   */
  public static void main(String[] arguments) throws IOException {
    List<Request> trace = read(Path.of(arguments[0]));
    int size = Integer.parseInt(arguments[1]);
    int upper = Math.max(size, Integer.parseInt(arguments[2]));
    double free = Double.parseDouble(arguments[3]);
    int places = size + Integer.parseInt(arguments[4]);
    double load = Double.parseDouble(arguments[5]);
    PoolTrace figures = new PoolTrace();
    SteeredThreadPool pool = new SteeredThreadPool(size, "requests");
    try (Agent agent = Agent.start(pool, 1, upper)) {
      double loops = calibrate();
      Thread submitter =
          new Thread(() -> figures.submit(pool, faster(trace, load), places, free, loops), "trace");
      submitter.setDaemon(true);
      submitter.start();
      System.out.println("{\"ready\": \"\"}");
      figures.answer();
    }
    // Waiting would finish all queued jobs first.
    Runtime.getRuntime().halt(0);
  }

  private void answer() throws IOException {
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      switch (line) {
        case "begin" -> {
          ops.set(0);
          waits.set(0);
          waitedNs.set(0);
          beganNs = System.nanoTime();
          System.out.println("{}");
        }
        case "end" -> {
          double elapsed = (System.nanoTime() - beganNs) / 1e9;
          long waited = waits.get();
          String wait =
              waited == 0
                  ? ""
                  : String.format(
                      Locale.ROOT, ", \"wait_us\": %.3f", waitedNs.get() / 1e3 / waited);
          System.out.printf(
              Locale.ROOT, "{\"ops\": %d, \"elapsed_s\": %.6f%s}%n", ops.get(), elapsed, wait);
        }
        default -> throw new IOException(line + " is neither begin nor end");
      }
    }
  }

  /** Submits the requests at their times, up to a bound on queued ones. */
  private void submit(
      SteeredThreadPool pool, List<Request> trace, int places, double free, double loops) {
    Semaphore left = new Semaphore(places);
    long due = System.nanoTime();
    while (true) {
      for (Request one : trace) {
        due += TimeUnit.MICROSECONDS.toNanos(one.start());
        for (long now = System.nanoTime(); now < due; now = System.nanoTime()) {
          LockSupport.parkNanos(due - now);
        }
        if (!left.tryAcquire()) {
          // The pool is slower than the trace; shift the remaining requests.
          left.acquireUninterruptibly();
          due = System.nanoTime();
        }
        long queued = System.nanoTime();
        pool.execute(() -> serve(one, queued, free, loops, left));
      }
    }
  }

  private void serve(Request one, long queued, double free, double loops, Semaphore left) {
    waits.incrementAndGet();
    waitedNs.addAndGet(System.nanoTime() - queued);
    spin(loops * one.execution());
    try {
      TimeUnit.NANOSECONDS.sleep(Math.round(one.execution() * free * 1e3));
    } catch (InterruptedException error) {
      Thread.currentThread().interrupt();
    }
    ops.incrementAndGet();
    left.release();
  }

  /** Returns the trace with its requests so many times as close together. */
  private static List<Request> faster(List<Request> trace, double load) {
    List<Request> found = new ArrayList<>();
    double atMicros = 0;
    for (Request one : trace) {
      double nextMicros = atMicros + one.start() / load;
      long start = Math.round(nextMicros) - Math.round(atMicros);
      found.add(new Request(one.id(), one.application(), start, one.execution()));
      atMicros = nextMicros;
    }
    return found;
  }

  private static List<Request> read(Path path) throws IOException {
    List<Request> trace = new ArrayList<>();
    for (String line : Files.readAllLines(path)) {
      String[] words = line.strip().split("\\s+");
      if (words[0].isEmpty() || words[0].startsWith("#")) {
        continue;
      }
      trace.add(
          new Request(
              Integer.parseInt(words[0]),
              Integer.parseInt(words[1]),
              Long.parseLong(words[2]),
              Long.parseLong(words[3])));
    }
    if (trace.isEmpty()) {
      throw new IOException(path + " has no requests");
    }
    return trace;
  }

  private static void spin(double loops) {
    double value = 1;
    for (double left = loops; left > 0; left--) {
      value += value * 1e-9;
    }
    sink = value;
  }

  /** Returns loops per microsecond: the maximum of several tries. */
  private static double calibrate() {
    double most = 0;
    for (int i = 0; i < TRIES; i++) {
      long began = System.nanoTime();
      spin(LOOPS);
      most = Math.max(most, LOOPS * 1e3 / (System.nanoTime() - began));
    }
    return most;
  }
}
