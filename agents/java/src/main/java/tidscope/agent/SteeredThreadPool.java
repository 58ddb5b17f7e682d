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
import java.util.concurrent.atomic.LongAdder;

/**
 * A thread pool with a fixed number of threads, which can be changed, and a queue without a bound.
 *
 * <p>It counts finished jobs and how long jobs waited. A pool that is made smaller interrupts no
 * job and drops none: threads that are too many end when they have finished theirs.
 */
public class SteeredThreadPool extends ThreadPoolExecutor {
  private final LongAdder ops = new LongAdder();
  private final LongAdder waitNs = new LongAdder();
  private final LongAdder waits = new LongAdder();
  private volatile int wanted;

  /** A pool of this size, 1 or more. */
  public SteeredThreadPool(int size) {
    this(size, Executors.defaultThreadFactory());
  }

  /** A pool of this size, 1 or more, whose threads come from a factory. */
  public SteeredThreadPool(int size, ThreadFactory factory) {
    super(size, size, 0, TimeUnit.MILLISECONDS, new LinkedBlockingQueue<>(), factory);
    wanted = size;
  }

  /** Changes the size, to 1 or more; returns at once. */
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
  public int wanted() {
    return wanted;
  }

  /** The current size: the wanted one, or the threads there are while they are still more. */
  public int size() {
    return Math.max(wanted, getPoolSize());
  }

  /** Finished jobs, those that threw too. */
  public long ops() {
    return ops.sum();
  }

  /** Sum of the nanoseconds that jobs waited in the queue. */
  public long queueWaitNs() {
    return waitNs.sum();
  }

  /** Jobs in that sum: those that were begun. */
  public long queueWaits() {
    return waits.sum();
  }

  @Override
  public void execute(Runnable job) {
    super.execute(new Queued(job, System.nanoTime()));
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
    final long sinceNs;

    Queued(Runnable job, long sinceNs) {
      this.job = job;
      this.sinceNs = sinceNs;
    }

    @Override
    public void run() {
      waitNs.add(System.nanoTime() - sinceNs);
      waits.increment();
      if (job instanceof SteeredThreadPool.Counted) {
        job.run();
        return;
      }
      try {
        job.run();
      } finally {
        ops.increment();
      }
    }
  }

  /** A job that is counted before anybody can know that it is done. */
  private final class Counted<T> extends FutureTask<T> {
    Counted(Callable<T> job) {
      super(job);
    }

    @Override
    protected void set(T value) {
      ops.increment();
      super.set(value);
    }

    @Override
    protected void setException(Throwable reason) {
      ops.increment();
      super.setException(reason);
    }
  }
}
