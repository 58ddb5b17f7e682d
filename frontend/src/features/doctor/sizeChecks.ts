import { formatValue } from "../../stream/format";
import type {
  CpuAllowance,
  DoctorCheck,
  SizeAudit,
  SizedProgram,
} from "../../wire/generated/models";

/** Number of pools, and of misconfigured ones. */
export function auditText(audit: SizeAudit): string {
  const count = audit.programs.length;
  if (count === 0) {
    return "No Go program, Java virtual machine or program with an agent runs here.";
  }
  const wrong = audit.programs.filter(isWrong).length;
  const omitted = audit.omitted > 0 ? ` ${audit.omitted} more were not looked at.` : "";
  return wrong === 0
    ? `Of ${count} ${count === 1 ? "pool" : "pools"} nothing is known to be set wrong.${omitted}`
    : `${wrong} of ${count} ${count === 1 ? "pool" : "pools"} set wrong.${omitted}`;
}

/** A check; not `known` if the right size is unknown. */
export type SizeCheck = DoctorCheck & { readonly known: boolean };

/** Misconfigured programs, followed by programs with an unknown right size, as checks. */
export function sizeChecks(audit: SizeAudit): SizeCheck[] {
  const checks = audit.programs.filter(({ verdict }) => verdict !== "fits").map(sizeCheck);
  return [...checks.filter(({ known }) => known), ...checks.filter(({ known }) => !known)];
}

function sizeCheck(program: SizedProgram): SizeCheck {
  const { process, allowance, pool, verdict, why, change } = program;
  const version = process.runtime_version === null ? "" : `, ${process.runtime_version}`;
  return {
    name: `size-${process.pid}-${pool}`,
    title: `${pool} of ${process.name} (pid ${process.pid}${version})`,
    status: "limited",
    known: verdict !== "unknown",
    finding: [why, `${allowed(allowance)}.`].join(" "),
    impact: throttledText(allowance),
    fix: change ?? "",
  };
}

function isWrong({ verdict }: SizedProgram): boolean {
  return verdict === "too-large" || verdict === "too-small";
}

function allowed(allowance: CpuAllowance): string {
  const parts = [`CPUs of its affinity: ${allowance.cpus}`];
  if (allowance.limit_cores !== null) {
    parts.push(`CPU limit: ${allowance.limit_cores} cores (${allowance.limit_group})`);
  }
  if (allowance.request_cores !== null) {
    parts.push(`CPU request: ${allowance.request_cores} cores`);
  }
  return parts.join("; ");
}

function throttledText({ periods, throttled }: CpuAllowance): string {
  return periods === null || throttled === null || periods === 0 || throttled === 0
    ? ""
    : `throttled in ${formatValue(throttled / periods, "share")} of the limit's periods so far`;
}
