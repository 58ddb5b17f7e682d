import type { FrameHeader, LiveState, Steering, Target } from "../wire/generated/models";

/**
 * Apply a frame's decisions to its target's steering; returns the same object if none is newer.
 * Frames may be replayed, so older decisions are ignored.
 */
export function withDecisions(live: LiveState, header: FrameHeader): LiveState {
  const target = live.targets.find((one) => one.id === header.target);
  if (target === undefined) return live;
  const changed = applied(target, header);
  if (changed === target) return live;
  return { ...live, targets: live.targets.map((one) => (one === target ? changed : one)) };
}

function applied(target: Target, header: FrameHeader): Target {
  if (target.steering !== null) {
    const steering = decided(target.steering, header, null);
    return steering === target.steering ? target : { ...target, steering };
  }
  const before = target.programs ?? [];
  const programs = before.map((one) => {
    const steering = decided(one.steering, header, one.pid);
    return steering === one.steering ? one : { ...one, steering };
  });
  return programs.every((one, i) => one === before[i]) ? target : { ...target, programs };
}

/** @param pid Program of a group, or null for a single-process target. */
function decided(before: Steering, header: FrameHeader, pid: number | null): Steering {
  let steering = before;
  for (const event of header.events) {
    if (event.type !== "steering_decided" || (event.pid ?? null) !== pid) continue;
    if (event.number <= steering.decisions) continue;
    const at_unix_us = header.unix_us - (header.time_ns - event.at_ns) / 1000;
    if (at_unix_us < steering.since_unix_us) continue; // decision of an earlier steering
    const { next_size, state, reason, number, ops, elapsed_s } = event;
    steering = {
      ...steering,
      size: next_size,
      state,
      reason,
      decisions: number,
      ops_per_s: elapsed_s > 0 ? ops / elapsed_s : 0,
      interval_s: elapsed_s,
      decided_unix_us: Math.round(at_unix_us),
      division: event.division ?? null,
    };
  }
  return steering;
}
