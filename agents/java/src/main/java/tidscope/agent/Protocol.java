package tidscope.agent;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Set;

/** Agent protocol (docs/agents.md): parses requests and formats answers. */
final class Protocol {
  static final int LARGEST_SIZE = 1 << 20;
  static final String RESTART_SEARCH = "{\"jsonrpc\":\"2.0\",\"method\":\"restart_search\"}\n";

  private static final long LARGEST_ID = (1L << 53) - 1;
  private static final double LONGEST_LEASE_S = 60;
  private static final Set<String> MEMBERS = Set.of("jsonrpc", "id", "method", "params");

  private final Lease lease;
  private final long startNs = System.nanoTime();

  Protocol(Lease lease) {
    this.lease = lease;
  }

  /** Answers a line; the answer says whether the connection must be closed. */
  record Reply(String line, boolean closes) {}

  Reply reply(Object client, byte[] line) {
    Long id = null;
    try {
      Map<?, ?> call = object(line);
      id = id(call);
      return new Reply(answer(id, result(client, call)), false);
    } catch (Failure wrong) {
      return new Reply(failure(wrong, id), wrong.closes());
    }
  }

  static String failure(Failure wrong, Long id) {
    return "{\"jsonrpc\":\"2.0\",\"id\":" + id + ",\"error\":{\"code\":" + wrong.code
        + ",\"message\":" + Json.quote(wrong.getMessage()) + "}}\n";
  }

  private static String answer(long id, String result) {
    return "{\"jsonrpc\":\"2.0\",\"id\":" + id + ",\"result\":" + result + "}\n";
  }

  private static Map<?, ?> object(byte[] line) throws Failure {
    Object value;
    try {
      // A CharsetDecoder rejects malformed input; String would replace it.
      value = Json.parse(StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(line)).toString());
    } catch (CharacterCodingException | IllegalArgumentException error) {
      throw new Failure(Failure.PARSE, "the line is not JSON");
    }
    if (value instanceof Map<?, ?> members) {
      return members;
    }
    throw new Failure(Failure.INVALID, "the line is not a JSON object");
  }

  private static long id(Map<?, ?> call) throws Failure {
    if (call.get("id") instanceof Json.Digits digits && digits.integer(0, LARGEST_ID) >= 0) {
      return digits.integer(0, LARGEST_ID);
    }
    throw new Failure(Failure.INVALID, "id must be an integer from 0 on");
  }

  private String result(Object client, Map<?, ?> call) throws Failure {
    if (!"2.0".equals(call.get("jsonrpc"))) {
      throw new Failure(Failure.INVALID, "jsonrpc must be \"2.0\"");
    }
    if (!(call.get("method") instanceof String method)) {
      throw new Failure(Failure.INVALID, "method must be a string");
    }
    for (Object name : call.keySet()) {
      if (!MEMBERS.contains(name)) {
        throw new Failure(Failure.INVALID, "a call has no member " + brief(name.toString()));
      }
    }
    if (method.equals("set")) {
      set(client, call.get("params"));
      return sizes();
    }
    if (!Set.of("hello", "read", "read_pools", "release").contains(method)) {
      throw new Failure(Failure.METHOD, "there is no method " + brief(method));
    }
    if (call.containsKey("params")) {
      throw new Failure(Failure.PARAMS, method + " takes no parameters");
    }
    if (method.equals("release")) {
      lease.release();
      return sizes();
    }
    return switch (method) {
      case "hello" -> hello();
      case "read" -> reading();
      default -> "{" + Pools.answer() + ",\"monotonic_ns\":" + (System.nanoTime() - startNs) + "}";
    };
  }

  private void set(Object client, Object params) throws Failure {
    if (!(params instanceof Map<?, ?> members)
        || !members.keySet().equals(Set.of("size", "lease_s"))) {
      throw new Failure(Failure.PARAMS, "set takes size and lease_s, and nothing else");
    }
    if (!(members.get("size") instanceof Json.Digits size) || size.integer(1, LARGEST_SIZE) < 0) {
      throw new Failure(Failure.PARAMS, "size must be an integer from 1 to " + LARGEST_SIZE);
    }
    double seconds =
        members.get("lease_s") instanceof Json.Digits digits ? Double.parseDouble(digits.text()) : 0;
    if (!(seconds > 0 && seconds <= LONGEST_LEASE_S)) {
      throw new Failure(Failure.PARAMS, "lease_s must be a number above 0, 60 at most");
    }
    lease.set(client, (int) size.integer(1, LARGEST_SIZE), seconds);
  }

  private String hello() {
    return "{\"pid\":" + ProcessHandle.current().pid() + ",\"runtime\":\"java\",\"version\":"
        + Json.quote(Agent.VERSION) + ",\"protocol\":2,\"knob\":" + Json.quote(lease.pool.knob())
        + ",\"lower\":" + lease.lower + ",\"upper\":" + lease.upper + ",\"size\":" + lease.pool.size() + ",\"original\":"
        + lease.original + "}";
  }

  private String reading() {
    Steerable pool = lease.pool;
    return "{\"ops\":" + pool.ops() + ",\"size\":" + pool.size() + ",\"queue_wait_ns\":"
        + pool.queueWaitNs() + ",\"queue_waits\":" + pool.queueWaits() + ",\"monotonic_ns\":"
        + (System.nanoTime() - startNs) + "}";
  }

  private String sizes() {
    return "{\"size\":" + lease.pool.size() + ",\"wanted\":" + lease.pool.wanted() + "}";
  }

  private static String brief(String text) {
    return "'" + text.substring(0, Math.min(40, text.length())) + "'";
  }
}
