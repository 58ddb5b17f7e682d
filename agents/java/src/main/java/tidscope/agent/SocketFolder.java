package tidscope.agent;

import java.io.IOException;
import java.net.ConnectException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipal;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;

/** The agent's socket: its folder, its creation, and the removal of stale ones. */
final class SocketFolder {
  private static final Path SYSTEM_FOLDER = Path.of("/run/tidscope");
  private static final int OTHERS_WRITE = 0022;
  private static final int STICKY = 01000;
  private static final int FILE_KIND = 0170000;
  private static final int SOCKET = 0140000;
  private static final int MAX_FILES = 256;

  /** A listening socket, its path and its owner. */
  record Listening(ServerSocketChannel channel, Path path, UserPrincipal user) {}

  private SocketFolder() {}

  /** Creates the socket of a process in the first usable folder. */
  static Listening listen(long pid) throws IOException {
    List<String> wrong = new ArrayList<>();
    for (Path folder : folders()) {
      try {
        prepare(folder);
        Listening bound = bind(folder.resolve(pid + ".sock"));
        sweep(folder, user());
        return bound;
      } catch (IOException | UnsupportedOperationException error) {
        wrong.add(error.getMessage());
      }
    }
    throw new IOException("no folder for a socket: " + String.join("; ", wrong));
  }

  /** Returns the folders that a collector searches, in order. */
  private static Set<Path> folders() throws IOException {
    String named = System.getenv().getOrDefault("TIDSCOPE_AGENT_DIR", "");
    if (!named.isEmpty()) {
      return Set.of(Path.of(named));
    }
    Set<Path> found = new LinkedHashSet<>();
    // sudo may leave another user's folder in the environment.
    Path runtime = Path.of(System.getenv().getOrDefault("XDG_RUNTIME_DIR", ""));
    for (Path base : List.of(runtime, Path.of("/run/user/" + user()))) {
      if (base.isAbsolute() && Files.exists(base) && owner(base) == user()) {
        found.add(base.resolve("tidscope"));
      }
    }
    found.add(SYSTEM_FOLDER);
    return found;
  }

  /** Creates a folder if it is missing, and rejects one that other users can change. */
  private static void prepare(Path folder) throws IOException {
    if (!folder.isAbsolute()) {
      throw new IOException(folder + ": not an absolute path");
    }
    // All users share the system's folder.
    String mode = folder.equals(SYSTEM_FOLDER) ? "rwxr-xr-x" : "rwx------";
    try {
      Files.createDirectory(
          folder, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(mode)));
    } catch (FileAlreadyExistsException there) {
      // The folder exists already.
    }
    if (!Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)) {
      throw new IOException(folder + ": not a folder");
    }
    int owner = owner(folder);
    if (owner != 0 && owner != user()) {
      throw new IOException(folder + ": belongs to another user, " + owner);
    }
    int bits = (Integer) Files.getAttribute(folder, "unix:mode", LinkOption.NOFOLLOW_LINKS);
    if ((bits & OTHERS_WRITE) != 0 && (bits & STICKY) == 0) {
      throw new IOException(folder + ": others may write to it");
    }
  }

  /**
   * Listens with mode 0600. The socket is renamed into place when the mode is set, so that other
   * users can never connect. The stale socket of an ended process with this ID is replaced.
   */
  private static Listening bind(Path path) throws IOException {
    Path unnamed = path.resolveSibling(path.getFileName() + ".new");
    Files.deleteIfExists(unnamed);
    ServerSocketChannel channel = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
    try {
      channel.bind(UnixDomainSocketAddress.of(unnamed));
      Files.setPosixFilePermissions(unnamed, PosixFilePermissions.fromString("rw-------"));
      channel.configureBlocking(false);
      Files.move(unnamed, path, StandardCopyOption.ATOMIC_MOVE);
      return new Listening(channel, path, Files.getOwner(path, LinkOption.NOFOLLOW_LINKS));
    } catch (IOException | RuntimeException error) {
      channel.close();
      Files.deleteIfExists(unnamed);
      throw error;
    }
  }

  private static int owner(Path path) throws IOException {
    return (Integer) Files.getAttribute(path, "unix:uid", LinkOption.NOFOLLOW_LINKS);
  }

  /** Returns the user ID of this program: the owner of its folder in /proc. */
  private static int user() throws IOException {
    return (Integer) Files.getAttribute(Path.of("/proc/self"), "unix:uid");
  }

  /**
   * Removes this user's stale sockets, which killed programs leave behind. A process ID may belong
   * to another namespace, so a connection attempt decides. It does not disturb a listening program.
   */
  private static void sweep(Path folder, int user) {
    int seen = 0;
    try (DirectoryStream<Path> found = Files.newDirectoryStream(folder, "*.sock")) {
      for (Path path : found) {
        String pid = path.getFileName().toString().replaceFirst("\\.sock$", "");
        if (++seen > MAX_FILES) {
          return;
        }
        if (pid.matches("[1-9][0-9]{0,9}") && !Files.exists(Path.of("/proc", pid))) {
          removeIfStale(path, user);
        }
      }
    } catch (IOException | RuntimeException ignored) {
      // Stale sockets are harmless.
    }
  }

  private static void removeIfStale(Path path, int user) throws IOException {
    Object owner = Files.getAttribute(path, "unix:uid", LinkOption.NOFOLLOW_LINKS);
    Object key = identity(path);
    int mode = (Integer) Files.getAttribute(path, "unix:mode", LinkOption.NOFOLLOW_LINKS);
    if (!Objects.equals(owner, user) || (mode & FILE_KIND) != SOCKET) {
      return;
    }
    try {
      SocketChannel.open(UnixDomainSocketAddress.of(path)).close();
    } catch (ConnectException refused) {
      // A new program may have reused the name.
      if (Objects.equals(key, identity(path))) {
        Files.deleteIfExists(path);
      }
    } catch (IOException other) {
      // The file is no socket, or access is denied.
    }
  }

  private static Object identity(Path path) throws IOException {
    return Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS)
        .fileKey();
  }
}
