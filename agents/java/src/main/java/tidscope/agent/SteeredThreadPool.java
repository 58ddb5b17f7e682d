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
 * A thread pool with a fixed number of threads, which can be changed, and a queue without a bound.
 *
 * <p>It counts finished jobs and how long jobs waited. A pool that is made smaller interrupts no
 * job and drops none: threads that are too many end when they have finished theirs.
 */
public class SteeredThreadPool extends ThreadPoolExecutor implements Steerable {
  private final Figures figures;
  private volatile int wanted;

  /** A pool of this size, 1 or more. */
  public SteeredThreadPool(int size) {
    this(size, Executors.defaultThreadFactory());
  }

  /** A pool of this size, 1 or more, whose threads come from a factory. */
  public SteeredThreadPool(int size, ThreadFactory factory) {
    this(size, factory, "pool");
  }

  /** A pool of this size, 1 or more, that is reported under a name; those of one are added up. */
  public SteeredThreadPool(int size, String name) {
    this(size, Executors.defaultThreadFactory(), name);
  }

  /** A pool of this size, 1 or more, that is reported under a name; those of one are added up. */
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

  /** What a thread of the pool does, who counts as a worker meanwhile. */
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

  /** The size that it was given last. */
  @Override
  public int wanted() {
    return wanted;
  }

  /** The current size: the wanted one, or the threads there are while they are still more. */
  @Override
  public int size() {
    return Math.max(wanted, getPoolSize());
  }

  /** What it did, and how many jobs run. */
  Figures.Reading read() {
    return figures.read();
  }

  /** Finished jobs, those that threw too. */
  @Override
  public long ops() {
    return figures.finished();
  }

  /** Sum of the nanoseconds that jobs waited in the queue. */
  @Override
  public long queueWaitNs() {
    return figures.queueWaitNs();
  }

  /** Jobs in that sum: those that were begun. */
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

  /** A job, and since when it waits. */
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
        return; // It never starts.
      }
      startedNs = figures.start(queuedNs);
      boolean returned = false;
      try {
        job.run();
        returned = true;
      } finally {
        // A future that was cancelled while it ran has not said that it ended.
        end(!returned || job instanceof SteeredThreadPool.Counted);
      }
    }

    /** The job is done; only the first call counts. */
    void end(boolean failed) {
      if (!ended) {
        ended = true;
        figures.finish(queuedNs, startedNs, failed);
      }
    }
  }

  /** A job that is counted before anybody can know that it is done. */
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
