import type { FrameHeader, LiveState, Steering } from "../wire/generated/models";

/**
 * The state with the decisions of a frame applied to its target's steering; the same object if
 * there is none that is newer. Frames may be replayed, so older ones are ignored.
 */
export function withDecisions(live: LiveState, header: FrameHeader): LiveState {
  const target = live.targets.find((one) => one.id === header.target);
  if (target?.steering == null) return live;
  const steering = decided(target.steering, header);
  if (steering === target.steering) return live;
  return {
    ...live,
    targets: live.targets.map((one) => (one === target ? { ...one, steering } : one)),
  };
}

function decided(before: Steering, header: FrameHeader): Steering {
  let steering = before;
  for (const event of header.events) {
    if (event.type !== "steering_decided" || event.number <= steering.decisions) continue;
    const at_unix_us = header.unix_us - (header.time_ns - event.at_ns) / 1000;
    if (at_unix_us < steering.since_unix_us) continue; // Of an earlier time that it was steered.
    const { next_size, state, reason, number } = event;
    steering = { ...steering, size: next_size, state, reason, decisions: number };
  }
  return steering;
}
