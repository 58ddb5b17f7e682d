import java.security.MessageDigest;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A shop in one Java virtual machine, for pictures: orders and mails in pools of their own, one
 * monitor that all orders need, and garbage that is collected. Runs until it is killed.
 */
final class Shop {
  private static final Object STOCK = new Object();
  private static final int BEAT_MS = 50;
  private static final double PERIOD_S = 19;

  private Shop() {}

  public static void main(String[] words) throws InterruptedException {
    ExecutorService orders = Executors.newFixedThreadPool(6, named("order"));
    ExecutorService mails = Executors.newFixedThreadPool(3, named("mail"));
    System.out.println("ready");
    for (long start = System.nanoTime(); ; Thread.sleep(BEAT_MS)) {
      double turns = (System.nanoTime() - start) / 1e9 / PERIOD_S;
      double wave = (1 - Math.cos(2 * Math.PI * turns)) / 2;
      for (int each = 0; each < 1 + Math.round(5 * wave); each++) {
        orders.submit(() -> order(mails));
      }
    }
  }

  private static ThreadFactory named(String name) {
    AtomicInteger last = new AtomicInteger();
    return work -> new Thread(work, name + "-" + last.incrementAndGet());
  }

  private static void order(ExecutorService mails) {
    digest("order", 400);
    synchronized (STOCK) {
      pause(4);
    }
    mails.submit(() -> digest("mail", 60));
  }

  /** Makes garbage of a few hundred KiB, and hashes it. */
  private static byte[] digest(String what, int pieces) {
    try {
      MessageDigest hash = MessageDigest.getInstance("SHA-256");
      for (int piece = 0; piece < pieces; piece++) {
        hash.update((what + piece).repeat(100).getBytes());
      }
      return hash.digest();
    } catch (java.security.NoSuchAlgorithmException error) {
      throw new IllegalStateException(error);
    }
  }

  private static void pause(int milliseconds) {
    try {
      Thread.sleep(milliseconds);
    } catch (InterruptedException error) {
      throw new IllegalStateException(error);
    }
  }
}
