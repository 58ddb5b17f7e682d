/** Threads that compete for one monitor, and others for one lock of java.util.concurrent. */
final class Contended {
  private static final Object MONITOR = new Object();
  private static final java.util.concurrent.locks.ReentrantLock LOCK =
      new java.util.concurrent.locks.ReentrantLock();
  private static final long HOLD_MS = 2;

  private Contended() {}

  public static void main(String[] words) throws InterruptedException {
    for (int number = 0; number < 4; number++) {
      new Thread(Contended::useMonitor, "monitor-" + number).start();
      new Thread(Contended::useLock, "lock-" + number).start();
    }
    System.out.println("ready");
    Thread.currentThread().join();
  }

  private static void useMonitor() {
    while (true) {
      synchronized (MONITOR) {
        hold();
      }
    }
  }

  private static void useLock() {
    while (true) {
      LOCK.lock();
      try {
        hold();
      } finally {
        LOCK.unlock();
      }
    }
  }

  private static void hold() {
    try {
      Thread.sleep(HOLD_MS);
    } catch (InterruptedException error) {
      throw new IllegalStateException(error);
    }
  }
}
