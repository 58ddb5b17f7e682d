package tidscope.agent;

/** A call cannot be answered; the codes are those of docs/agents.md. */
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

  /** Whether the connection ends with it: what follows may be nonsense as well. */
  boolean closes() {
    return code == PARSE || code == INVALID;
  }
}
