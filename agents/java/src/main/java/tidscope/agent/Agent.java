package tidscope.agent;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Lets collectors on this host, of root or the same user, steer a thread pool.
 *
 * <pre>{@code
 * SteeredThreadPool pool = new SteeredThreadPool(8);
 * Agent agent = Agent.start(pool, 1, 64);
 * }</pre>
 *
 * <p>Nothing is steered before a collector asks for it, and what was steered is taken back when it
 * stops asking.
 */
public final class Agent implements AutoCloseable {
  /** Of this library; the same as in pom.xml. */
  public static final String VERSION = "0.1.0";

  private static final AtomicBoolean RUNNING = new AtomicBoolean();

  private final Path path;
  private final Server server;
  private final Thread thread;
  private final Thread hook = new Thread(this::end, "tidscope-agent-end");
  private final AtomicBoolean closed = new AtomicBoolean();

  private Agent(Steerable pool, int lower, int upper) throws IOException {
    SocketFolder.Listening listening = SocketFolder.listen(ProcessHandle.current().pid());
    path = listening.path();
    server = new Server(listening, new Lease(pool, lower, upper));
    thread = new Thread(server, "tidscope-agent");
    thread.setDaemon(true);
    thread.start();
    Runtime.getRuntime().addShutdownHook(hook);
  }

  /**
   * Makes an agent listen. A program has one at most.
   *
   * @param pool its size now is what collectors go back to
   * @param lower smallest size that it may be given
   * @param upper largest size that it may be given
   * @throws IOException there is no folder for its socket; README.md says where that is
   */
  public static Agent start(SteeredThreadPool pool, int lower, int upper) throws IOException {
    return startWith(pool, lower, upper);
  }

  /**
   * Makes an agent listen that only reports the pools of the program.
   *
   * @throws IOException there is no folder for its socket; README.md says where that is
   */
  public static Agent start() throws IOException {
    return startWith(Steerable.NOTHING, 1, 1);
  }

  private static Agent startWith(Steerable pool, int lower, int upper) throws IOException {
    int size = pool.wanted();
    if (lower < 1 || lower > size || upper < size || upper > Protocol.LARGEST_SIZE) {
      throw new IllegalArgumentException(
          "bounds " + lower + " to " + upper + " do not hold the pool's size, " + size);
    }
    if (!RUNNING.compareAndSet(false, true)) {
      throw new IllegalStateException("the agent of this program is already running");
    }
    try {
      return new Agent(pool, lower, upper);
    } catch (IOException | RuntimeException error) {
      RUNNING.set(false);
      throw error;
    }
  }

  /** The path of its socket. */
  public Path path() {
    return path;
  }

  /** Tells collectors that the program entered a new phase: what they learnt is void. */
  public void restartSearch() {
    server.restartSearch();
  }

  /** Restores the size and removes the socket; twice does no harm. */
  @Override
  public void close() {
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException ending) {
      // The program ends: the hook runs, or has run.
    }
    end();
  }

  private void end() {
    if (!closed.compareAndSet(false, true)) {
      return;
    }
    server.stop();
    try {
      thread.join();
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
    try {
      Files.deleteIfExists(path);
    } catch (IOException gone) {
      // Nobody listens there any more, which is what matters.
    }
    RUNNING.set(false);
  }
}
