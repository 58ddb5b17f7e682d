import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import tidscope.agent.Agent;
import tidscope.agent.SteeredThreadPool;

/**
 * Example service with a pool that tidscope reads and steers.
 *
 * <p>Each line of its input is a number of requests to serve; it logs its own measurements. Compile
 * it with the agent in the class path, start it, attach to it, and type numbers.
 */
public final class Service {
  private long finished;
  private long failed;
  private long responseNs;
  private long queueWaitNs;
  private long runNs;

  private Service() {}

  /** Serves until the end of the input. */
  public static void main(String[] arguments) throws IOException, InterruptedException {
    SteeredThreadPool pool = new SteeredThreadPool(4, "requests");
    try (Agent agent = Agent.start(pool, 1, 16)) {
      System.out.println("ready " + agent.path());
      Service service = new Service();
      BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        service.serveAll(pool, Integer.parseInt(line));
        System.out.println(service.totals());
      }
    } finally {
      pool.shutdown();
    }
  }

  private void serveAll(SteeredThreadPool pool, int requests) throws InterruptedException {
    List<Future<?>> jobs = new ArrayList<>();
    for (int i = 0; i < requests; i++) {
      int number = i;
      long queuedNs = System.nanoTime();
      jobs.add(
          pool.submit(
              () -> {
                serve(number, queuedNs);
                return null;
              }));
    }
    for (Future<?> job : jobs) {
      try {
        job.get();
      } catch (ExecutionException error) {
        // The pool counts failed requests.
      }
    }
  }

  /** Serves a request; every fiftieth fails. */
  private void serve(int number, long queuedNs) throws InterruptedException {
    long startedNs = System.nanoTime();
    Thread.sleep(1 + number % 3);
    boolean fails = number % 50 == 0;
    note(queuedNs, startedNs, fails);
    if (fails) {
      throw new IllegalStateException("request " + number + " cannot be served");
    }
  }

  private synchronized void note(long queuedNs, long startedNs, boolean fails) {
    long nowNs = System.nanoTime();
    finished++;
    failed += fails ? 1 : 0;
    responseNs += nowNs - queuedNs;
    queueWaitNs += startedNs - queuedNs;
    runNs += nowNs - startedNs;
  }

  private synchronized String totals() {
    return "{\"finished\":" + finished + ",\"failed\":" + failed + ",\"response_ns\":" + responseNs
        + ",\"queue_wait_ns\":" + queueWaitNs + ",\"run_ns\":" + runNs + "}";
  }
}
