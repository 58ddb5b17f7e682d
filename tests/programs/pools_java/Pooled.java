import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.stream.IntStream;
import tidscope.agent.Agent;
import tidscope.agent.Pools;

/**
 * A program whose pools are reported as they are; each line of its input gets an answer: {@code
 * plain N} jobs for an executor, {@code fork N} numbers summed in parallel, {@code spin N} virtual
 * threads that compute until there is the next line.
 */
final class Pooled {
  private static volatile boolean spins;

  private Pooled() {}

  private static void spin() {
    while (spins) {
      Thread.onSpinWait();
    }
  }

  public static void main(String[] arguments) throws Exception {
    ThreadPoolExecutor plain = (ThreadPoolExecutor) Executors.newFixedThreadPool(2);
    ForkJoinPool forks = new ForkJoinPool(3);
    Pools.watch("plain", plain);
    Pools.watch("forks", forks);
    Pools.watchCarriers();
    try (Agent agent = Agent.start()) {
      System.out.println("ready " + agent.path());
      BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        spins = false;
        int number = Integer.parseInt(line.substring(line.indexOf(' ') + 1));
        if (line.startsWith("plain")) {
          List<Future<?>> jobs = new ArrayList<>();
          for (int each = 0; each < number; each++) {
            jobs.add(plain.submit(() -> {}));
          }
          for (Future<?> job : jobs) {
            job.get();
          }
        } else if (line.startsWith("spin")) {
          spins = true;
          // This is compiled for Java 17, which has no virtual threads.
          Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
          for (int each = 0; each < number; each++) {
            start.invoke(null, (Runnable) Pooled::spin);
          }
        } else {
          forks.submit(() -> IntStream.range(0, number).parallel().sum()).get();
        }
        System.out.println(line);
      }
    }
    System.exit(0);
  }
}
