import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import tidscope.agent.Agent;
import tidscope.agent.SteeredThreadPool;

/**
 * A program with the Java agent, driven by lines at its standard input; each gets an answer.
 *
 * <pre>
 * ops N      do N jobs                  -> ops N
 * busy N     how many can work at once  -> busy M
 * restart    ask for a new search       -> restart
 * close      end the agent              -> close
 * </pre>
 */
final class Main {
  private Main() {}

  public static void main(String[] arguments) throws Exception {
    SteeredThreadPool pool = new SteeredThreadPool(3);
    try (Agent agent = Agent.start(pool, 1, 8)) {
      System.out.println("ready " + agent.path());
      serve(pool, agent);
    } catch (IOException error) {
      System.out.println("failed: " + error.getMessage());
    } finally {
      pool.shutdown();
    }
  }

  private static void serve(SteeredThreadPool pool, Agent agent) throws Exception {
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      String[] words = line.split(" ");
      switch (words[0]) {
        case "ops" -> operate(pool, Integer.parseInt(words[1]));
        case "busy" -> line = "busy " + busy(pool, Integer.parseInt(words[1]));
        case "restart" -> agent.restartSearch();
        case "close" -> agent.close();
        default -> line = "what?";
      }
      System.out.println(line);
    }
  }

  private static void operate(SteeredThreadPool pool, int number) throws Exception {
    List<Future<Integer>> jobs = new ArrayList<>();
    for (int i = 0; i < number; i++) {
      jobs.add(pool.submit(() -> 1));
    }
    for (Future<Integer> job : jobs) {
      job.get();
    }
  }

  /** The most jobs that ran at once; 0 if never this many did. */
  private static int busy(SteeredThreadPool pool, int number) throws Exception {
    CyclicBarrier together = new CyclicBarrier(number);
    AtomicInteger running = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    List<Future<Integer>> jobs = new ArrayList<>();
    for (int i = 0; i < 4 * number; i++) {
      jobs.add(
          pool.submit(
              () -> {
                most.accumulateAndGet(running.incrementAndGet(), Math::max);
                try {
                  return together.await(2, TimeUnit.MINUTES);
                } finally {
                  running.decrementAndGet();
                }
              }));
    }
    try {
      for (Future<Integer> job : jobs) {
        job.get();
      }
    } catch (ExecutionException error) {
      return 0;
    }
    return most.get();
  }
}
