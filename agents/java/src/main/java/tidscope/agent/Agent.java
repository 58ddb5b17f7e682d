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
 * <p>Nothing is steered until a collector requests it. The original size is restored when the
 * collector stops renewing its request.
 */
public final class Agent implements AutoCloseable {
  /** Version of this library; the same as in pom.xml. */
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
   * Starts an agent. A program has at most one.
   *
   * @param pool the steered pool; collectors restore its current size
   * @param lower minimum size that collectors may set
   * @param upper maximum size that collectors may set
   * @throws IOException no usable folder for the socket exists; README.md lists the folders
   */
  public static Agent start(SteeredThreadPool pool, int lower, int upper) throws IOException {
    return startWith(pool, lower, upper);
  }

  /**
   * Starts an agent that only reports the pools of the program.
   *
   * @throws IOException no usable folder for the socket exists; README.md lists the folders
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

  /** Returns the path of the agent's socket. */
  public Path path() {
    return path;
  }

  /** Makes collectors discard what they learnt: the program entered a new phase. */
  public void restartSearch() {
    server.restartSearch();
  }

  /** Restores the size and removes the socket. Idempotent. */
  @Override
  public void close() {
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException ending) {
      // The program is exiting: the shutdown hook runs, or has run.
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
      // The socket is closed already, so a failed removal is harmless.
    }
    RUNNING.set(false);
  }
}
