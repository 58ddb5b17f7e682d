import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import tidscope.agent.Agent;
import tidscope.agent.SteeredThreadPool;

/**
 * A pool whose throughput at each size is known: Paced OWN LARGEST BEST PENALTY SECONDS.
 *
 * <p>It has OWN workers at first. Jobs only wait. Up to BEST of them at a time wait equally long (SECONDS); each one more makes
 * all of them wait for longer than it adds, by a share PENALTY. Works until its input ends.
 */
final class Paced {
  /** A worker that is later than this was not late: it had no job. */
  private static final double LATE_S = 0.3;

  private static final AtomicInteger RUNNING = new AtomicInteger();
  private static final ThreadLocal<Double> DUE = ThreadLocal.withInitial(Paced::now);

  private Paced() {}

  private static double now() {
    return System.nanoTime() / 1e9;
  }

  /** Waits as long as so many at a time have to; after a late wake-up for less. */
  private static void job(double best, double penalty, double seconds) {
    int running = RUNNING.incrementAndGet();
    double over = Math.max(0, running - best);
    double now = now();
    double due =
        Math.max(DUE.get(), now - LATE_S)
            + seconds * Math.max(1, running / best) * (1 + penalty * over);
    DUE.set(due);
    try {
      Thread.sleep(Math.max(0, Math.round((due - now) * 1000)));
    } catch (InterruptedException error) {
      Thread.currentThread().interrupt();
    } finally {
      RUNNING.decrementAndGet();
    }
  }

  /** Keeps the queue filled, but not without end. */
  private static void feed(SteeredThreadPool pool, int largest, Runnable job) {
    Semaphore places = new Semaphore(2 * largest);
    while (true) {
      places.acquireUninterruptibly();
      pool.execute(
          () -> {
            try {
              job.run();
            } finally {
              places.release();
            }
          });
    }
  }

  public static void main(String[] arguments) throws Exception {
    int own = Integer.parseInt(arguments[0]);
    int largest = Integer.parseInt(arguments[1]);
    double best = Double.parseDouble(arguments[2]);
    double penalty = Double.parseDouble(arguments[3]);
    double seconds = Double.parseDouble(arguments[4]);
    SteeredThreadPool pool = new SteeredThreadPool(own);
    try (Agent agent = Agent.start(pool, 1, largest)) {
      Thread feeder =
          new Thread(() -> feed(pool, largest, () -> job(best, penalty, seconds)), "feeder");
      feeder.setDaemon(true);
      feeder.start();
      System.out.println("ready " + agent.path());
      while (System.in.read() >= 0) {}
    }
    System.exit(0);
  }
}
