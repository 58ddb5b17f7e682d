import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;

/**
 * JVM programs that stop or are held up, and the same without it: Stops KIND fault|healthy.
 * benchmarks/incident_queues.py says what each is. They run until they are ended.
 */
public final class Stops {
  private static boolean fault;

  private static Thread start(String name, Runnable work) {
    Thread thread = new Thread(work, name);
    thread.setDaemon(true);
    thread.start();
    return thread;
  }

  /** A thread collects the whole heap several times a second, while others handle orders. */
  private static void collections() {
    List<byte[]> kept = new ArrayList<>();
    for (int i = 0; i < 400_000; i++) {
      kept.add(new byte[200]);
    }
    for (int number = 0; number < 4; number++) {
      start("orders-" + number, () -> {
        double sum = 0;
        while (true) {
          for (int i = 1; i < 20_000; i++) {
            sum += Math.sqrt(i);
          }
          Incident.sleep(sum < 0 ? 1 : 2);
        }
      });
    }
    start("cleaner", () -> {
      while (true) {
        if (fault) {
          System.gc();
        }
        Incident.sleep(fault ? 100 : 1000);
      }
    });
    start("keeper", () -> {
      while (kept.size() > 0) {
        Incident.sleep(1000);
      }
    });
  }

  /** The JDK's HTTP server, whose one thread calls handlers: one of them sleeps. */
  private static void httpLoop() throws IOException {
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 50);
    byte[] body = "done".getBytes();
    for (String path : List.of("/", "/report")) {
      server.createContext(path, exchange -> {
        if (exchange.getRequestURI().getPath().equals("/report")) {
          Incident.sleep(fault ? 200 : 1);
        }
        exchange.sendResponseHeaders(200, body.length);
        exchange.getResponseBody().write(body);
        exchange.close();
      });
    }
    server.start();
    int port = server.getAddress().getPort();
    for (int number = 0; number < 4; number++) {
      start("customer-" + number, () -> ask(port, "/", 10));
    }
    start("clerk", () -> ask(port, "/report", 200));
  }

  private static void ask(int port, String path, long pause) {
    try {
      while (true) {
        HttpURLConnection asked =
            (HttpURLConnection)
                URI.create("http://127.0.0.1:" + port + path).toURL().openConnection();
        asked.getInputStream().readAllBytes();
        Incident.sleep(pause);
      }
    } catch (IOException error) {
      throw new IllegalStateException(error);
    }
  }

  public static void main(String[] words) throws IOException, InterruptedException {
    fault = words[1].equals("fault");
    if (words[0].equals("collections")) {
      collections();
    } else {
      httpLoop();
    }
    System.out.println("ready");
    Thread.currentThread().join();
  }
}
