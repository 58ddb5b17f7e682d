package tidscope.agent;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystems;
import java.nio.file.attribute.UserPrincipal;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import jdk.net.ExtendedSocketOptions;

/** Server of an agent: one thread serves all connections without blocking. */
final class Server implements Runnable {
  private static final int LONGEST_LINE = 4096;
  private static final int MAX_CLIENTS = 8;
  private static final long RETRY_MS = 50;

  private final ServerSocketChannel listener;
  private final Set<UserPrincipal> users;
  private final Lease lease;
  private final Protocol protocol;
  private final Selector selector;
  private final Set<Client> clients = new HashSet<>();
  private final AtomicBoolean notify = new AtomicBoolean();
  private volatile boolean stopped;

  /** A connection, and its incomplete line. */
  private static final class Client {
    final SocketChannel channel;
    final ByteBuffer buffer = ByteBuffer.allocate(LONGEST_LINE);

    Client(SocketChannel channel) {
      this.channel = channel;
    }

    /** Sends a line; throws if the client does not read it, so that the caller disconnects it. */
    void send(String line) throws IOException {
      ByteBuffer bytes = ByteBuffer.wrap(line.getBytes(StandardCharsets.UTF_8));
      channel.write(bytes);
      if (bytes.hasRemaining()) {
        throw new IOException("the client does not take its answers");
      }
    }
  }

  Server(SocketFolder.Listening listening, Lease lease) throws IOException {
    this.listener = listening.channel();
    this.lease = lease;
    this.protocol = new Protocol(lease);
    // Compared by number: a lookup by an unknown name would return user ID 0.
    UserPrincipal root =
        FileSystems.getDefault().getUserPrincipalLookupService().lookupPrincipalByName("0");
    this.users = Set.copyOf(List.of(root, listening.user()));
    this.selector = Selector.open();
    listener.register(selector, SelectionKey.OP_ACCEPT);
  }

  /** Makes {@link #run} return soon. Thread-safe. */
  void stop() {
    stopped = true;
    selector.wakeup();
  }

  /** Sends a line to all clients soon. Thread-safe. */
  void restartSearch() {
    notify.set(true);
    selector.wakeup();
  }

  @Override
  public void run() {
    try {
      while (!stopped) {
        step();
      }
    } catch (IOException error) {
      // The selector itself failed, so the agent cannot serve.
    } finally {
      lease.release();
      for (Client client : List.copyOf(clients)) {
        drop(client);
      }
      quietly(selector);
      quietly(listener);
    }
  }

  private void step() throws IOException {
    selector.select(lease.leftMs());
    if (notify.getAndSet(false)) {
      for (Client client : List.copyOf(clients)) {
        attempt(client, () -> client.send(Protocol.RESTART_SEARCH));
      }
    }
    Set<SelectionKey> ready = selector.selectedKeys();
    for (SelectionKey key : ready) {
      if (key.attachment() instanceof Client client) {
        attempt(client, () -> receive(client));
      } else {
        accept();
      }
    }
    ready.clear();
  }

  private interface Action {
    void run() throws IOException;
  }

  private void attempt(Client client, Action action) {
    try {
      if (clients.contains(client)) {
        action.run();
      }
    } catch (IOException error) {
      drop(client);
    }
  }

  private void accept() {
    SocketChannel channel = null;
    try {
      channel = listener.accept();
      if (channel != null && !admit(channel)) {
        channel.close();
      }
    } catch (IOException error) {
      quietly(channel);
      pause(); // Out of file descriptors, for example; retry later.
    }
  }

  private boolean admit(SocketChannel channel) throws IOException {
    if (!users.contains(channel.getOption(ExtendedSocketOptions.SO_PEERCRED).user())) {
      return false;
    }
    channel.configureBlocking(false);
    Client client = new Client(channel);
    if (clients.size() >= MAX_CLIENTS) {
      Failure wrong = new Failure(Failure.CLIENTS, "there are " + MAX_CLIENTS + " clients already");
      client.send(Protocol.failure(wrong, null));
      return false;
    }
    channel.register(selector, SelectionKey.OP_READ, client);
    clients.add(client);
    return true;
  }

  private void drop(Client client) {
    lease.forget(client);
    clients.remove(client);
    quietly(client.channel);
  }

  private void receive(Client client) throws IOException {
    ByteBuffer buffer = client.buffer;
    if (client.channel.read(buffer) < 0) {
      throw new IOException("the client has ended");
    }
    buffer.flip();
    for (int end = end(buffer); end >= 0; end = end(buffer)) {
      byte[] line = new byte[end - buffer.position()];
      buffer.get(line).get();
      Protocol.Reply reply = protocol.reply(client, line);
      client.send(reply.line());
      if (reply.closes()) {
        throw new IOException("the client talks nonsense");
      }
    }
    buffer.compact();
    if (!buffer.hasRemaining()) {
      Failure wrong =
          new Failure(Failure.INVALID, "the line is longer than " + LONGEST_LINE + " bytes");
      client.send(Protocol.failure(wrong, null));
      throw new IOException(wrong.getMessage());
    }
  }

  private static int end(ByteBuffer buffer) {
    for (int place = buffer.position(); place < buffer.limit(); place++) {
      if (buffer.get(place) == '\n') {
        return place;
      }
    }
    return -1;
  }

  private static void quietly(AutoCloseable open) {
    try {
      if (open != null) {
        open.close();
      }
    } catch (Exception error) {
      // The connection is discarded, so a failed close is harmless.
    }
  }

  private static void pause() {
    try {
      Thread.sleep(RETRY_MS);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
