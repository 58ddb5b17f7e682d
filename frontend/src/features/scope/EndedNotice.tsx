import { useState } from "react";
import { listProcesses } from "../../api/client";
import { asProblem } from "../../api/problem";
import { navigate } from "../../base/routing";
import { exitStatusText } from "../../stream/exitStatusText";
import { formatDuration } from "../../stream/format";
import { programOf } from "../../stream/targetName";
import type { TargetView } from "../../stream/views";
import { Button } from "../../ui/Button";
import { Notice } from "../../ui/Notice";
import { ProblemNotice } from "../../ui/ProblemNotice";
import type {
  AttachRequest,
  Group,
  GroupSelector,
  Process,
  Target,
} from "../../wire/generated/models";
import { useAttach } from "../attach/useAttach";

interface EndedNoticeProps {
  readonly target: Target;
  readonly view: TargetView;
}

/** The stream is complete: says why, and how to go on. */
export function EndedNotice({ target, view }: EndedNoticeProps) {
  const { process, group } = target;
  const attaching = useAttach();
  const [message, setMessage] = useState("");
  const exited = target.state === "exited";

  const attachTo = (what: Pick<AttachRequest, "pid" | "group" | "start_ticks">) => {
    const { host, rate_hz } = target;
    attaching.attachTo({ host, rate_hz, ...what }, "push", programOf(target));
  };
  const again = async () => {
    setMessage("");
    attaching.fail(null);
    try {
      const { processes } = await listProcesses(target.host);
      const found = newest(
        processes.filter((each) => each.command !== null && each.command === process.command),
      );
      if (found === null) {
        setMessage("No process with this command is running now.");
      } else if (found.refusal !== null) {
        attaching.fail(found.refusal);
      } else {
        const { pid, start_ticks } = found;
        attachTo({ pid, start_ticks });
      }
    } catch (error) {
      attaching.fail(asProblem(error));
    }
  };
  const whole = group ? selectorOf(group, process) : null;
  const resume = () =>
    attachTo(
      whole ? { pid: null, group: whole } : { pid: process.pid, start_ticks: process.start_ticks },
    );

  return (
    <>
      <Notice
        status="info"
        title={exited ? (group ? "The group has ended" : "The process has exited") : "Detached"}
        actions={
          <>
            {exited && group ? null : exited ? (
              <Button onClick={() => void again()}>Attach to the same command again</Button>
            ) : (
              <Button onClick={resume}>Attach again</Button>
            )}
            <Button look="primary" onClick={() => navigate("/")}>
              {group ? "Choose another target" : "Choose another process"}
            </Button>
          </>
        }
      >
        {exited
          ? `Attached for ${formatDuration(view.now_s)}; ${exitStatusText(view.exit_code)}. All data has arrived; charts and totals stay available.`
          : `The ${group ? "group" : "process"} keeps running and is no longer sampled. The ${formatDuration(view.now_s)} of data stay available.`}
        {message === "" ? null : <p role="alert">{message}</p>}
      </Notice>
      {attaching.problem === null ? null : <ProblemNotice problem={attaching.problem} />}
    </>
  );
}

/** What asks for the group again. */
function selectorOf({ kind, value }: Group, { pid, start_ticks }: Process): GroupSelector {
  const root = kind === "tree" ? { pid, start_ticks } : { pid: null, start_ticks: null };
  return { kind, value, ...root };
}

function newest(processes: readonly Process[]): Process | null {
  return processes.reduce<Process | null>(
    (best, each) => (best === null || each.started_unix_ms > best.started_unix_ms ? each : best),
    null,
  );
}
