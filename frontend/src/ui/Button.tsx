import type { ButtonHTMLAttributes } from "react";
import styles from "./Button.module.css";

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  /** primary: the main action here; quiet: without a frame. */
  readonly variant?: "plain" | "primary" | "quiet";
}

export function Button({ variant = "plain", className = "", ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      className={`${styles.button} ${styles[variant] ?? ""} ${className}`}
      {...rest}
    />
  );
}
