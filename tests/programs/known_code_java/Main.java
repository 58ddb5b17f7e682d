import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;

/**
 * Threads whose time in each function is known: see known_code.py. With the word "virtual" only
 * workers run, as virtual threads, which are numbered in place of thread IDs, and one more that is
 * pinned to its carrier while it waits.
 */
final class Main {
  private static long endNs;
  private static boolean virtual;

  private Main() {}

  public static void main(String[] words) throws IOException, InterruptedException {
    virtual = words.length > 0;
    System.out.println("ready");
    BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
    for (String line = input.readLine(); line != null; line = input.readLine()) {
      System.out.println(run(Double.parseDouble(line)));
    }
  }

  private static String run(double seconds) throws InterruptedException {
    endNs = System.nanoTime() + (long) (seconds * 1e9);
    List<Worker> workers = new ArrayList<>();
    Turns turns = new Turns();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      Worker worker = new Worker();
      worker.tid = i + 1;
      workers.add(worker);
      threads.add(virtual ? startVirtual(worker) : start(worker));
    }
    if (virtual) {
      Worker pinned = new Worker();
      pinned.tid = workers.size() + 1;
      workers.add(pinned);
      threads.add(startVirtual(() -> runPinned(pinned::waitUntilOver)));
    } else {
      threads.add(start(() -> turns.release(0)));
      threads.add(start(() -> turns.release(1)));
      threads.add(start(turns::waitInTurn));
    }
    for (Thread thread : threads) {
      thread.join();
    }
    String accounts =
        workers.stream()
            .map(one -> "\"" + one.tid + "\": " + json(one.ns))
            .collect(Collectors.joining(", "));
    return "{\"workers\": {" + accounts + "}, \"waiter\": " + turns.waiter + ", \"released_ns\": "
        + json(turns.ns) + ", \"releasers\": " + json(turns.tids) + "}";
  }

  private static Thread start(Runnable what) {
    Thread thread = new Thread(what);
    thread.start();
    return thread;
  }

  /** Compiled for a Java without virtual threads. */
  private static Thread startVirtual(Runnable what) {
    try {
      return (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, what);
    } catch (ReflectiveOperationException error) {
      throw new IllegalStateException(error);
    }
  }

  /** Run in the initializer of a class: a virtual thread cannot leave its carrier there. */
  private static void runPinned(Runnable what) {
    System.getProperties().put(Pinned.class.getName(), what);
    try (URLClassLoader again = new URLClassLoader(classPath(), null)) {
      Class.forName(Pinned.class.getName(), true, again);
    } catch (IOException | ReflectiveOperationException error) {
      throw new IllegalStateException(error);
    }
  }

  private static URL[] classPath() throws IOException {
    return new URL[] {Path.of(System.getProperty("java.class.path")).toUri().toURL()};
  }

  private static String json(Map<String, ?> map) {
    return map.entrySet().stream()
        .map(one -> "\"" + one.getKey() + "\": " + one.getValue())
        .collect(Collectors.joining(", ", "{", "}"));
  }

  private static boolean isOver() {
    return System.nanoTime() >= endNs;
  }

  /** ID of this thread, as the kernel has it. */
  private static int tid() {
    try {
      Path link = Files.readSymbolicLink(Path.of("/proc/thread-self"));
      return Integer.parseInt(link.getFileName().toString());
    } catch (IOException error) {
      throw new UncheckedIOException(error);
    }
  }

  private static void sleep(long ms) {
    try {
      Thread.sleep(ms);
    } catch (InterruptedException error) {
      throw new IllegalStateException(error);
    }
  }

  private static void park(long ns) {
    long until = System.nanoTime() + ns;
    for (long left = ns; left > 0; left = until - System.nanoTime()) {
      LockSupport.parkNanos(left);
    }
  }

  private static void compute(long ns) {
    long until = System.nanoTime() + ns;
    while (System.nanoTime() < until) {}
  }

  /** A class whose initializer does what is given, once for each class loader. */
  private static final class Pinned {
    static {
      ((Runnable) System.getProperties().get(Pinned.class.getName())).run();
    }
  }

  private static final class Worker implements Runnable {
    private final Map<String, Long> ns = new LinkedHashMap<>();
    private int tid;

    @Override
    public void run() {
      if (!virtual) {
        tid = tid();
      }
      while (!isOver()) {
        for (int left = ThreadLocalRandom.current().nextInt(1, 16); left > 0; left--) {
          waitBriefly();
        }
        for (int left = ThreadLocalRandom.current().nextInt(1, 8); left > 0; left--) {
          restBriefly();
        }
        waitLonger();
        restLonger();
        computeSome();
        computeMore();
      }
    }

    private void add(String name, long begin) {
      ns.merge(name, System.nanoTime() - begin, Long::sum);
    }

    private void waitUntilOver() {
      while (!isOver()) {
        waitPinned();
      }
    }

    private void waitPinned() {
      long begin = System.nanoTime();
      park(4_000_000);
      add("waitPinned", begin);
    }

    private void waitBriefly() {
      long begin = System.nanoTime();
      park(400_000);
      add("waitBriefly", begin);
    }

    private void waitLonger() {
      long begin = System.nanoTime();
      park(4_000_000);
      add("waitLonger", begin);
    }

    private void restBriefly() {
      long begin = System.nanoTime();
      sleep(1);
      add("restBriefly", begin);
    }

    private void restLonger() {
      long begin = System.nanoTime();
      sleep(4);
      add("restLonger", begin);
    }

    private void computeSome() {
      long begin = System.nanoTime();
      compute(1_000_000);
      add("computeSome", begin);
    }

    private void computeMore() {
      long begin = System.nanoTime();
      compute(3_000_000);
      add("computeMore", begin);
    }
  }

  /** Turns for which one thread waits and which two others release alternately. */
  private static final class Turns {
    private final Semaphore released = new Semaphore(0);
    private final Semaphore[] asked = {new Semaphore(0), new Semaphore(0)};
    private final Map<String, Long> ns = new LinkedHashMap<>();
    private final Map<String, Integer> tids = new LinkedHashMap<>();
    private volatile String releaser = "";
    private volatile boolean over;
    private int waiter;

    private void postSoon() {
      releaser = "postSoon";
      released.release();
    }

    private void postLate() {
      releaser = "postLate";
      released.release();
    }

    private void awaitRelease() {
      long begin = System.nanoTime();
      released.acquireUninterruptibly();
      ns.merge(releaser, System.nanoTime() - begin, Long::sum);
    }

    private void release(int which) {
      synchronized (tids) {
        tids.put(which == 0 ? "postSoon" : "postLate", tid());
      }
      while (true) {
        asked[which].acquireUninterruptibly();
        if (over) {
          return;
        }
        sleep(which == 0 ? 1 : 4);
        if (which == 0) {
          postSoon();
        } else {
          postLate();
        }
      }
    }

    private void waitInTurn() {
      waiter = tid();
      for (int which = 0; !isOver(); which = 1 - which) {
        asked[which].release();
        awaitRelease();
      }
      over = true;
      for (Semaphore one : asked) {
        one.release();
      }
    }
  }
}
