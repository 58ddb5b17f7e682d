package tidscope.agent;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads JSON (RFC 8259), strictly.
 *
 * <p>Objects become maps and arrays lists. Numbers keep their text, which distinguishes 4 from 4.0.
 */
final class Json {
  /** A number, as its text. */
  record Digits(String text) {
    /** Returns the value of an integer between two bounds, or -1 for any other number. */
    long integer(long least, long greatest) {
      if (text.length() > 18 || !text.matches("[0-9]+")) {
        return -1;
      }
      long value = Long.parseLong(text);
      return value < least || value > greatest ? -1 : value;
    }
  }

  /** The JSON value null. */
  static final Object NULL = new Object();

  private static final int DEEPEST = 64;
  private static final Pattern NUMBER =
      Pattern.compile("-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][+-]?[0-9]+)?");

  private final String text;
  private int at;

  private Json(String text) {
    this.text = text;
  }

  /** Parses a text; throws IllegalArgumentException if it is malformed. */
  static Object parse(String text) {
    Json json = new Json(text);
    Object value = json.value(0);
    json.blanks();
    if (json.at != text.length()) {
      throw json.wrong();
    }
    return value;
  }

  /** Formats a string as JSON. */
  static String quote(String text) {
    StringBuilder quoted = new StringBuilder("\"");
    for (char letter : text.toCharArray()) {
      if (letter == '"' || letter == '\\') {
        quoted.append('\\').append(letter);
      } else if (letter < ' ' || letter > '~') {
        quoted.append(String.format("\\u%04x", (int) letter));
      } else {
        quoted.append(letter);
      }
    }
    return quoted.append('"').toString();
  }

  private Object value(int depth) {
    blanks();
    if (depth > DEEPEST || at == text.length()) {
      throw wrong();
    }
    return switch (text.charAt(at)) {
      case '{' -> object(depth);
      case '[' -> array(depth);
      case '"' -> string();
      case 't' -> word("true", Boolean.TRUE);
      case 'f' -> word("false", Boolean.FALSE);
      case 'n' -> word("null", NULL);
      default -> number();
    };
  }

  private Map<String, Object> object(int depth) {
    Map<String, Object> members = new LinkedHashMap<>();
    at++;
    if (next('}')) {
      return members;
    }
    do {
      blanks();
      String name = string();
      if (!next(':')) {
        throw wrong();
      }
      members.put(name, value(depth + 1));
    } while (next(','));
    if (!next('}')) {
      throw wrong();
    }
    return members;
  }

  private List<Object> array(int depth) {
    List<Object> items = new ArrayList<>();
    at++;
    if (next(']')) {
      return items;
    }
    do {
      items.add(value(depth + 1));
    } while (next(','));
    if (!next(']')) {
      throw wrong();
    }
    return items;
  }

  private String string() {
    if (take() != '"') {
      throw wrong();
    }
    StringBuilder found = new StringBuilder();
    while (true) {
      char letter = take();
      if (letter == '"') {
        return found.toString();
      }
      if (letter < ' ') {
        throw wrong();
      }
      found.append(letter == '\\' ? escaped() : letter);
    }
  }

  private char escaped() {
    char letter = take();
    int which = "\"\\/bfnrt".indexOf(letter);
    if (which >= 0) {
      return "\"\\/\b\f\n\r\t".charAt(which);
    }
    if (letter != 'u' || !text.substring(at).matches("(?s)[0-9a-fA-F]{4}.*")) {
      throw wrong();
    }
    at += 4;
    return (char) Integer.parseInt(text, at - 4, at, 16);
  }

  private Digits number() {
    Matcher matcher = NUMBER.matcher(text).region(at, text.length());
    if (!matcher.lookingAt()) {
      throw wrong();
    }
    at = matcher.end();
    return new Digits(matcher.group());
  }

  private Object word(String word, Object value) {
    if (!text.startsWith(word, at)) {
      throw wrong();
    }
    at += word.length();
    return value;
  }

  private boolean next(char wanted) {
    blanks();
    if (at < text.length() && text.charAt(at) == wanted) {
      at++;
      return true;
    }
    return false;
  }

  private char take() {
    if (at == text.length()) {
      throw wrong();
    }
    return text.charAt(at++);
  }

  private void blanks() {
    while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
      at++;
    }
  }

  private IllegalArgumentException wrong() {
    return new IllegalArgumentException("not JSON at character " + at);
  }
}
