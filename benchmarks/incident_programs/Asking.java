import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Scanner;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.ReentrantLock;

/**
 * JVM programs that ask a process of their own, with one fault each and without it: Asking KIND
 * fault|healthy. benchmarks/incident_unseen.py says what each is. They run until they are ended.
 */
public final class Asking {
  private static boolean fault;

  /** Answers each question after a while, until its asker has ended. */
  private static void serve(String name, long millis) throws IOException {
    Files.writeString(Path.of("/proc/self/comm"), name);
    ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    System.out.println(server.getLocalPort());
    Incident.start(1, "end", () -> {
      try {
        System.in.read();
      } catch (IOException error) {
        throw new IllegalStateException(error);
      }
      Runtime.getRuntime().halt(0);
    });
    while (true) {
      Socket socket = server.accept();
      socket.setTcpNoDelay(true);
      Incident.start(1, "answer", () -> {
        byte[] question = new byte[16];
        try (InputStream in = socket.getInputStream(); OutputStream out = socket.getOutputStream()) {
          while (in.read(question) > 0) {
            if (millis > 0) {
              Incident.sleep(millis);
            }
            out.write(question, 0, 8);
          }
        } catch (IOException error) {
          throw new IllegalStateException(error);
        }
      });
    }
  }

  /** A process that answers: its port. */
  private static int served(String name, long millis) throws IOException {
    String java = ProcessHandle.current().info().command().orElse("java");
    String path = System.getProperty("java.class.path");
    Process process =
        new ProcessBuilder(java, "-Xmx64m", "-cp", path, "Asking", name, Long.toString(millis))
            .start();
    return new Scanner(process.getInputStream()).nextInt();
  }

  private static void ask(Socket socket, int times) {
    byte[] answer = new byte[16];
    try {
      for (int i = 0; i < times; i++) {
        socket.getOutputStream().write(new byte[8]);
        if (socket.getInputStream().read(answer) < 0) {
          throw new IllegalStateException("no answer");
        }
      }
    } catch (IOException error) {
      throw new IllegalStateException(error);
    }
  }

  private static Socket connected(int port) {
    try {
      Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
      socket.setTcpNoDelay(true);
      return socket;
    } catch (IOException error) {
      throw new IllegalStateException(error);
    }
  }

  /** Two threads ask a store 200 times for each request, or once. */
  private static void nPlusOne() throws IOException {
    int port = served("row-store", 0);
    Incident.start(2, "handler", () -> {
      Socket socket = connected(port);
      while (true) {
        ask(socket, fault ? 200 : 1);
        Incident.sleep(10);
      }
    });
  }

  /** The six threads of a pool ask a service that takes 300 ms, or 2 ms and less often. */
  private static void slowDependency() throws IOException {
    int port = served("price-service", fault ? 300 : 2);
    var pool = Executors.newFixedThreadPool(6);
    for (int number = 0; number < 6; number++) {
      pool.submit(() -> {
        Socket socket = connected(port);
        while (true) {
          ask(socket, 1);
          Incident.sleep(fault ? 1 : 50);
        }
      });
    }
  }

  /** Twelve threads hold a lock while they ask for 5 ms; the twin's ask without it, and seldom. */
  private static void lockedCall() throws IOException {
    int port = served("seat-service", 5);
    ReentrantLock seats = new ReentrantLock();
    Incident.start(12, "booking", () -> {
      Socket socket = connected(port);
      while (true) {
        if (fault) {
          seats.lock();
          ask(socket, 1);
          seats.unlock();
        } else {
          ask(socket, 1);
          Incident.sleep(100);
        }
      }
    });
  }

  public static void main(String[] arguments) throws IOException {
    if (arguments[0].endsWith("-service") || arguments[0].endsWith("-store")) {
      serve(arguments[0], Long.parseLong(arguments[1]));
    }
    fault = arguments[1].equals("fault");
    System.out.println("ready");
    switch (arguments[0]) {
      case "n-plus-one" -> nPlusOne();
      case "slow-dependency" -> slowDependency();
      case "locked-call" -> lockedCall();
      default -> throw new IllegalArgumentException(arguments[0]);
    }
  }
}
