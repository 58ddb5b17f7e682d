// Generated from shared/schemas by tools/generate.py. Do not edit.

/** WebSocket close codes of /ws/live and /ws/collector. */
export const CloseCode = {
  /** A message did not fit its schema; the reason names what. */
  bad_message: 4400,
  /** No valid session, one that has ended, or a wrong collector secret. */
  unauthenticated: 4401,
  /** Origin or Host is not one this backend serves. */
  forbidden_origin: 4403,
  /** The first message did not come in time. */
  timed_out: 4408,
  /** Another collector of the same host has connected. */
  replaced: 4409,
  /** The collector's secret is that of another host, or its host has another secret; the reason names both. */
  wrong_host: 4421,
  /** The other side speaks another version of the protocol; the reason names both. */
  protocol_version: 4426,
  /** Too many pages or collectors are connected. */
  too_many: 4429,
  /** The page took nothing for too long while frames were waiting for it; it may connect again. */
  stalled: 4420,
} as const;
