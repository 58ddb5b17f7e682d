package tidscope.agent;

/** Failure of a call; docs/agents.md lists the codes. */
final class Failure extends Exception {
  static final int PARSE = -32700;
  static final int INVALID = -32600;
  static final int METHOD = -32601;
  static final int PARAMS = -32602;
  static final int BOUNDS = -32001;
  static final int CLIENTS = -32004;
  static final int BUSY = -32003;

  private static final long serialVersionUID = 1;

  final int code;

  Failure(int code, String message) {
    super(message, null, false, false);
    this.code = code;
  }

  /** True if the connection must be closed, because later input may be malformed too. */
  boolean closes() {
    return code == PARSE || code == INVALID;
  }
}
