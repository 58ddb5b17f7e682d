import type { ButtonHTMLAttributes } from "react";
import styles from "./Button.module.css";

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  /** primary: the main action here; quiet: without a frame. */
  readonly look?: "plain" | "primary" | "quiet";
}

export function Button({ look = "plain", className = "", ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      className={`${styles.button} ${styles[look] ?? ""} ${className}`}
      {...rest}
    />
  );
}
