import java.util.Map;
import java.util.Scanner;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.SynchronousQueue;

/**
 * Threads with names as a web server has them. Does what its input says, a line each: "start NAME"; "rename NAME TO",
 * which the thread does itself; "end NAME". Says "done" after each.
 */
final class NamedThreads {
  private static final Map<String, SynchronousQueue<String>> THREADS = new ConcurrentHashMap<>();
  private static final SynchronousQueue<String> DONE = new SynchronousQueue<>();

  private NamedThreads() {}

  public static void main(String[] names) throws InterruptedException {
    for (String name : names) {
      start(name);
    }
    System.out.println("ready");
    Scanner input = new Scanner(System.in);
    while (input.hasNextLine()) {
      String[] words = input.nextLine().split(" ");
      switch (words[0]) {
        case "start" -> start(words[1]);
        case "rename" -> {
          SynchronousQueue<String> thread = THREADS.remove(words[1]);
          THREADS.put(words[2], thread);
          thread.put(words[2]);
          DONE.take();
        }
        default -> {
          THREADS.remove(words[1]).put("");
          DONE.take();
        }
      }
      System.out.println("done");
    }
    System.exit(0);
  }

  private static void start(String name) throws InterruptedException {
    SynchronousQueue<String> orders = new SynchronousQueue<>();
    THREADS.put(name, orders);
    new Thread(() -> obey(orders), name).start();
    DONE.take();
  }

  private static void obey(SynchronousQueue<String> orders) {
    try {
      DONE.put("");
      for (String name = orders.take(); !name.isEmpty(); name = orders.take()) {
        Thread.currentThread().setName(name);
        DONE.put("");
      }
      DONE.put("");
    } catch (InterruptedException error) {
      throw new IllegalStateException(error);
    }
  }
}
