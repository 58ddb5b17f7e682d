import { useStore } from "../../../../base/useStore";
import { formatDuration } from "../../../../model/format";
import { Button } from "../../../../ui/Button";
import { changeOpen } from "./changeOpen";

/** Opens what changed between the window in view and the time before it, or closes it. */
export function CompareBefore({ seconds }: { readonly seconds: number }) {
  const open = useStore(changeOpen);
  return (
    <Button
      aria-pressed={open}
      aria-keyshortcuts="b"
      title="What changed, by role and reason (b)"
      onClick={() => changeOpen.set(!open)}
    >
      Compare with the {formatDuration(seconds)} before
    </Button>
  );
}
