package tidscope.agent;

import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RunnableFuture;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * A thread pool with a resizable number of threads and an unbounded queue.
 *
 * <p>It counts finished jobs and their queue waits. Shrinking interrupts and drops no job:
 * surplus threads end after their current job.
 */
public class SteeredThreadPool extends ThreadPoolExecutor implements Steerable {
  private final Figures figures;
  private volatile int wanted;

  /** Creates a pool of this size, 1 or more. */
  public SteeredThreadPool(int size) {
    this(size, Executors.defaultThreadFactory());
  }

  /** Creates a pool of this size, 1 or more, whose threads come from a factory. */
  public SteeredThreadPool(int size, ThreadFactory factory) {
    this(size, factory, "pool");
  }

  /** Creates a pool of this size, 1 or more, with a name; pools of one name are summed. */
  public SteeredThreadPool(int size, String name) {
    this(size, Executors.defaultThreadFactory(), name);
  }

  /** Creates a pool of this size, 1 or more, with a name; pools of one name are summed. */
  public SteeredThreadPool(int size, ThreadFactory factory, String name) {
    this(size, factory, name, new Figures());
  }

  private SteeredThreadPool(int size, ThreadFactory factory, String name, Figures figures) {
    super(
        size,
        size,
        0,
        TimeUnit.MILLISECONDS,
        new LinkedBlockingQueue<>(),
        work -> factory.newThread(() -> counted(work, figures)));
    this.figures = figures;
    wanted = size;
    Pools.add(name, this);
  }

  /** Main function of a worker thread. */
  private static void counted(Runnable work, Figures figures) {
    figures.countWorkers(1);
    try {
      work.run();
    } finally {
      figures.countWorkers(-1);
    }
  }

  @Override
  public String knob() {
    return "pool";
  }

  /** Changes the size, to 1 or more; returns at once. */
  @Override
  public synchronized void resize(int size) {
    if (size < 1) {
      throw new IllegalArgumentException("a pool has 1 thread or more, not " + size);
    }
    wanted = size;
    if (size > getMaximumPoolSize()) {
      setMaximumPoolSize(size);
      setCorePoolSize(size);
    } else {
      setCorePoolSize(size);
      setMaximumPoolSize(size);
    }
  }

  /** Returns the size that was set last. */
  @Override
  public int wanted() {
    return wanted;
  }

  /** Returns the effective size: the wanted one, or the number of threads while it is higher. */
  @Override
  public int size() {
    return Math.max(wanted, getPoolSize());
  }

  /** Returns the counters of the pool, and its running jobs. */
  Figures.Reading read() {
    return figures.read();
  }

  /** Returns the number of finished jobs, including those that threw. */
  @Override
  public long ops() {
    return figures.finished();
  }

  /** Returns the sum of queue waits, in nanoseconds. */
  @Override
  public long queueWaitNs() {
    return figures.queueWaitNs();
  }

  /** Returns the number of started jobs, whose queue waits are summed. */
  @Override
  public long queueWaits() {
    return figures.started();
  }

  @Override
  public void execute(Runnable job) {
    Queued queued = new Queued(job);
    if (job instanceof SteeredThreadPool.Counted<?> counted) {
      counted.queued = queued;
    }
    figures.submit();
    super.execute(queued);
  }

  @Override
  protected void terminated() {
    Pools.end(this);
    super.terminated();
  }

  @Override
  protected <T> RunnableFuture<T> newTaskFor(Callable<T> job) {
    return new Counted<>(job);
  }

  @Override
  protected <T> RunnableFuture<T> newTaskFor(Runnable job, T value) {
    return new Counted<>(Executors.callable(job, value));
  }

  @Override
  public boolean remove(Runnable job) {
    return super.remove(job) || getQueue().removeIf(queued -> unwrap(queued).equals(job));
  }

  @Override
  public void purge() {
    getQueue().removeIf(queued -> unwrap(queued) instanceof Future<?> job && job.isCancelled());
  }

  @Override
  public List<Runnable> shutdownNow() {
    return super.shutdownNow().stream().map(SteeredThreadPool::unwrap).toList();
  }

  private static Runnable unwrap(Runnable queued) {
    return queued instanceof SteeredThreadPool.Queued wrapped ? wrapped.job : queued;
  }

  /** A job and its submission time. */
  private final class Queued implements Runnable {
    final Runnable job;
    private final long queuedNs = System.nanoTime();
    private long startedNs;
    private boolean ended;

    Queued(Runnable job) {
      this.job = job;
    }

    @Override
    public void run() {
      if (job instanceof Future<?> future && future.isCancelled()) {
        return; // A cancelled job never starts.
      }
      startedNs = figures.start(queuedNs);
      boolean returned = false;
      try {
        job.run();
        returned = true;
      } finally {
        // A future cancelled while it ran does not report its end.
        end(!returned || job instanceof SteeredThreadPool.Counted);
      }
    }

    /** Notes the end of the job; only the first call counts. */
    void end(boolean failed) {
      if (!ended) {
        ended = true;
        figures.finish(queuedNs, startedNs, failed);
      }
    }
  }

  /** A future that counts its job before it reports completion. */
  private final class Counted<T> extends FutureTask<T> {
    Queued queued;

    Counted(Callable<T> job) {
      super(job);
    }

    @Override
    protected void set(T value) {
      queued.end(false);
      super.set(value);
    }

    @Override
    protected void setException(Throwable reason) {
      queued.end(true);
      super.setException(reason);
    }
  }
}
