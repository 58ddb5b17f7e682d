import { useEffect, useState } from "react";
import { Button } from "./Button";

interface CopyButtonProps {
  readonly text: string;
  /** Noun for the text, used in the accessible name. */
  readonly what: string;
  readonly label?: string;
}

/** Button that copies a text to the clipboard and confirms it. */
export function CopyButton({ text, what, label = "Copy" }: CopyButtonProps) {
  const [said, setSaid] = useState("");
  useEffect(() => {
    const timer = window.setTimeout(() => setSaid(""), 2000);
    return () => window.clearTimeout(timer);
  });
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setSaid("Copied");
    } catch {
      // No clipboard outside secure contexts: the user can select the text beside this button.
      setSaid("Select the text");
    }
  };
  return (
    <Button onClick={() => void copy()} aria-label={`Copy ${what}`}>
      <span aria-live="polite" style={{ minWidth: "4.25em" }}>
        {said || label}
      </span>
    </Button>
  );
}
