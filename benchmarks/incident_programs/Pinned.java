import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Method;

/**
 * Virtual threads that each load a plugin, whose initializer waits 40 ms for something: a class
 * initializer pins its carrier. The twin waits outside of it. Pinned fault|healthy, on Java 21 and
 * newer; virtual threads are started by reflection, so that older compilers take it.
 */
public final class Pinned {
  private static boolean fault;

  /** A plugin; each loader has one of its own. */
  public static final class Plugin {
    static {
      if (Boolean.getBoolean("pinned")) {
        pause(40);
      }
    }
  }

  /** A loader with a Plugin of its own. */
  private static final class Loader extends ClassLoader {
    private final byte[] code;

    Loader(byte[] code) {
      this.code = code;
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      if (!name.equals("Pinned$Plugin")) {
        return super.loadClass(name, resolve);
      }
      Class<?> known = findLoadedClass(name);
      return known != null ? known : defineClass(name, code, 0, code.length);
    }
  }

  /** Public, as plugins are in other packages at run time: each loader has its own. */
  public static void pause(long millis) {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException error) {
      throw new IllegalStateException(error);
    }
  }

  private static void request(byte[] code) {
    try {
      Class.forName("Pinned$Plugin", true, new Loader(code));
    } catch (ClassNotFoundException error) {
      throw new IllegalStateException(error);
    }
    if (!fault) {
      pause(40);
    }
  }

  public static void main(String[] arguments) throws IOException, ReflectiveOperationException {
    fault = arguments[0].equals("fault");
    System.setProperty("pinned", String.valueOf(fault));
    byte[] code;
    try (InputStream file = Pinned.class.getResourceAsStream("Pinned$Plugin.class")) {
      code = file.readAllBytes();
    }
    Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
    System.out.println("ready");
    Runnable request = () -> request(code);
    while (true) {
      start.invoke(null, request);
      pause(fault ? 10 : 50);
    }
  }
}
