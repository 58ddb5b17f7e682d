import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;

/**
 * JVM programs with one fault each, and the same without it: Incident KIND fault|healthy.
 * benchmarks/incident_cases.py says what each is. They run until they are ended.
 */
public final class Incident {
  private static boolean fault;
  private static final Object LEDGER = new Object();

  private static void compute(long micros) {
    long end = System.nanoTime() + 1000 * micros;
    while (System.nanoTime() < end) {
      Thread.onSpinWait();
    }
  }

  static void sleep(double millis) {
    try {
      Thread.sleep((long) millis, (int) (1e6 * (millis % 1)));
    } catch (InterruptedException error) {
      throw new IllegalStateException(error);
    }
  }

  static void start(int count, String role, Runnable work) {
    for (int number = 0; number < count; number++) {
      new Thread(work, role + "-" + number).start();
    }
  }

  /** Threads post to one ledger, 2 ms each; the twin's each to one of their own. */
  private static void monitor() {
    start(16, "posting", () -> {
      Object own = fault ? LEDGER : new Object();
      while (true) {
        synchronized (own) {
          sleep(2);
          compute(50);
        }
        if (!fault) {
          sleep(20);
        }
      }
    });
  }

  /** Fills the heap until it is nearly full; each collection then frees little. */
  private static void garbage() {
    List<byte[]> kept = new ArrayList<>();
    if (fault) {
      long most = Runtime.getRuntime().maxMemory();
      while (Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory() < 0.86 * most) {
        kept.add(new byte[1 << 15]);
      }
    }
    start(2, "report", () -> {
      List<byte[]> own = new ArrayList<>();
      while (true) {
        for (int i = 0; i < 40; i++) {
          own.add(new byte[1 << 12]);
        }
        if (own.size() > 200) {
          own.clear();
        }
        if (fault) {
          synchronized (kept) {
            kept.set((int) (Math.random() * kept.size()), new byte[1 << 15]);
          }
        } else {
          sleep(5);
        }
      }
    });
  }

  /** A pool of four for jobs of 100 ms: 100 a second come, or ten. */
  private static void executor() {
    ExecutorService pool = Executors.newFixedThreadPool(4);
    start(1, "acceptor", () -> {
      while (true) {
        pool.submit(() -> sleep(100));
        sleep(fault ? 10 : 100);
      }
    });
  }

  /** Blocking calls of 100 ms in the common pool, of three threads: 100 a second come, or five. */
  private static void commonPool() {
    start(1, "acceptor", () -> {
      while (true) {
        CompletableFuture.runAsync(() -> sleep(100)).thenRun(() -> compute(50));
        sleep(fault ? 10 : 200);
      }
    });
  }

  /** Twelve threads share two permits, as of a pool of connections, for 20 ms each; or twelve. */
  private static void permits() {
    Semaphore permits = new Semaphore(fault ? 2 : 12);
    start(12, "checkout", () -> {
      while (true) {
        permits.acquireUninterruptibly();
        sleep(20);
        compute(100);
        permits.release();
        sleep(fault ? 1 : 100);
      }
    });
  }

  /** A thread for each request, five a second, which never ends; the twin's do. */
  private static void threadLeak() {
    start(1, "acceptor", () -> {
      while (true) {
        new Thread(() -> {
          compute(200);
          sleep(fault ? 1e9 : 5);
        }).start();
        sleep(200);
      }
    });
  }

  public static void main(String[] arguments) {
    fault = arguments[1].equals("fault");
    System.out.println("ready");
    switch (arguments[0]) {
      case "monitor" -> monitor();
      case "garbage" -> garbage();
      case "executor" -> executor();
      case "common-pool" -> commonPool();
      case "permits" -> permits();
      case "thread-leak" -> threadLeak();
      default -> throw new IllegalArgumentException(arguments[0]);
    }
  }
}
