import { useEffect, useState } from "react";
import { Button, SegmentedControl } from "../../ui/Controls";
import { MAX_MARK_TEXT } from "../../wire/generated/limits";
import type { AlignKind } from "../../wire/generated/models";
import styles from "./ComparePage.module.css";
import type { CompareLink } from "./link";

interface AlignmentProps {
  readonly link: CompareLink;
  readonly onLink: (link: CompareLink) => void;
}

const CHOICES: readonly { readonly value: AlignKind; readonly label: string }[] = [
  { value: "start", label: "Start" },
  { value: "policy", label: "First policy" },
  { value: "mark", label: "Mark" },
];

/** Controls for the alignment of the runs in time. */
export function Alignment({ link, onLink }: AlignmentProps) {
  const [text, setText] = useState(link.mark);
  useEffect(() => setText(link.mark), [link.mark]);
  return (
    <form
      className={styles.align}
      onSubmit={(event) => {
        event.preventDefault();
        onLink({ ...link, mark: text.trim() });
      }}
    >
      <span className={styles.label}>Aligned at</span>
      <SegmentedControl
        label="Aligned at"
        value={link.align}
        choices={CHOICES}
        onChange={(align) => onLink({ ...link, align })}
      />
      {link.align === "mark" ? (
        <>
          <input
            className={styles.field}
            aria-label="Text of the mark"
            placeholder="Text of the mark"
            value={text}
            maxLength={MAX_MARK_TEXT}
            onChange={(event) => setText(event.target.value)}
          />
          <Button type="submit" disabled={text.trim() === "" || text.trim() === link.mark}>
            Align
          </Button>
        </>
      ) : null}
    </form>
  );
}
