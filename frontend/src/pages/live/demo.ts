import type { Target } from "../../wire/generated/models";

/** Whether a target is the demo program that comes with tidscope. */
export function isDemo(target: Target): boolean {
  return target.process.command.includes("tidscope_backend.demo");
}
