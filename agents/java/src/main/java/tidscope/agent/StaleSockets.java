package tidscope.agent;

import java.io.IOException;
import java.net.ConnectException;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Objects;

/** Sockets that ended programs left: a killed one has no time to remove its own. */
final class StaleSockets {
  private static final int MOST = 256;
  private static final int FILE_KIND = 0170000;
  private static final int SOCKET = 0140000;

  private StaleSockets() {}

  /**
   * Removes this user's sockets at which nobody listens any more. A process id may be of another
   * namespace, so that it is asked whether somebody listens; programs that are there are not
   * disturbed by that.
   */
  static void sweep(Path folder, int user) {
    int seen = 0;
    try (DirectoryStream<Path> found = Files.newDirectoryStream(folder, "*.sock")) {
      for (Path path : found) {
        String pid = path.getFileName().toString().replaceFirst("\\.sock$", "");
        if (++seen > MOST) {
          return;
        }
        if (pid.matches("[1-9][0-9]{0,9}") && !Files.exists(Path.of("/proc", pid))) {
          removeIfStale(path, user);
        }
      }
    } catch (IOException | RuntimeException ignored) {
      // They do no harm where they are.
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
      // A program may have taken the name meanwhile.
      if (Objects.equals(key, identity(path))) {
        Files.deleteIfExists(path);
      }
    } catch (IOException other) {
      // It is no socket, or may not be asked.
    }
  }

  private static Object identity(Path path) throws IOException {
    return Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS)
        .fileKey();
  }
}
