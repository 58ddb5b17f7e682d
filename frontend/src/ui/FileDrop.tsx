import { type DragEvent, type ReactNode, useRef, useState } from "react";
import styles from "./editing.module.css";

interface FileDropProps {
  /** Label of the region and of the file chooser. */
  readonly label: string;
  readonly choose: string;
  /** Accepted file extensions and media types. */
  readonly accept: string;
  /** Shown while files are dragged over the page. */
  readonly hint: string;
  readonly locked: boolean;
  readonly onFiles: (files: readonly File[]) => void;
  /** Content; receives the function that opens the file chooser. */
  readonly children: (open: () => void) => ReactNode;
}

/** A page that accepts files by a file chooser, or dropped anywhere on the page. */
export function FileDrop(props: FileDropProps) {
  const { label, choose, accept, hint, locked, onFiles, children } = props;
  const input = useRef<HTMLInputElement>(null);
  const [over, setOver] = useState(false);
  const holdsFiles = (event: DragEvent) => !locked && event.dataTransfer.types.includes("Files");
  return (
    <section
      aria-label={label}
      className={styles.drop}
      data-over={over}
      onDragOver={(event) => {
        if (holdsFiles(event)) {
          event.preventDefault();
          setOver(true);
        }
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        setOver(false);
        if (holdsFiles(event)) {
          event.preventDefault();
          onFiles([...event.dataTransfer.files]);
        }
      }}
    >
      <input
        ref={input}
        type="file"
        hidden
        multiple
        accept={accept}
        aria-label={choose}
        onChange={(event) => {
          onFiles([...(event.target.files ?? [])]);
          event.target.value = "";
        }}
      />
      {over ? <p className={styles.hint}>{hint}</p> : null}
      {children(() => input.current?.click())}
    </section>
  );
}
