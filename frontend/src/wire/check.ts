/** Schema checks of incoming messages; a value that passes is trusted as its type. */

import type { FrameHeader, LiveMessage } from "./generated/models";
import { isFrameHeader, isLiveMessage, type Validator } from "./generated/validators";

const MAX_SHOWN = 80;

/**
 * Return the first mismatch, such as "/targets/0/rate_hz is \"ten\"", or null if the value fits.
 */
export function misfitOf<T>(fits: Validator<T>, value: unknown): string | null {
  if (fits(value)) return null;
  const [error] = fits.errors ?? [];
  const path = error?.instancePath ?? "";
  const missing = error?.params?.missingProperty;
  const shown = missing === undefined ? JSON.stringify(at(value, path)) : "missing";
  const place = missing === undefined ? path : `${path}/${missing}`;
  return `${place || "it"} is ${shown?.slice(0, MAX_SHOWN)}`;
}

/** Return the member that a JSON pointer addresses. */
function at(value: unknown, pointer: string): unknown {
  let here = value;
  for (const step of pointer.split("/").slice(1)) {
    const name = step.replaceAll("~1", "/").replaceAll("~0", "~");
    here = typeof here === "object" && here !== null ? Reflect.get(here, name) : undefined;
  }
  return here;
}

/** Return the header of a frame, or the reason that it is invalid. */
export function checkFrameHeader(value: unknown): FrameHeader | string {
  if (!isFrameHeader(value)) return misfitOf(isFrameHeader, value) ?? "";
  const { first_seq, seq } = value;
  return first_seq > seq ? `/first_seq is ${first_seq}, above /seq ${seq}` : value;
}

/** Return a text message of /ws/live, or the reason that it is invalid. */
export function checkLiveMessage(text: string): LiveMessage | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return `not JSON: ${text.slice(0, MAX_SHOWN)}`;
  }
  return isLiveMessage(value) ? value : (misfitOf(isLiveMessage, value) ?? "");
}
