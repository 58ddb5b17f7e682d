import { type FormEvent, useState } from "react";
import { signIn } from "../api/client";
import { asProblem } from "../api/problem";
import { tokenIn } from "../api/session";
import { Button } from "../ui/Button";
import { Notice } from "../ui/Notice";
import { ProblemNotice } from "../ui/ProblemNotice";
import type { Problem } from "../wire/generated/models";
import { useLiveClient } from "./clients";
import styles from "./SignInPage.module.css";

/** Asks for the token when there is no session, and says where it is printed. */
export function SignInPage() {
  const client = useLiveClient();
  const [pasted, setPasted] = useState("");
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [mistake, setMistake] = useState("");

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const token = tokenIn(pasted);
    setProblem(null);
    setMistake(token === "" ? "No token found in this text." : "");
    if (token === "") {
      return;
    }
    setBusy(true);
    try {
      await signIn(token);
      client.retryNow();
    } catch (error) {
      setProblem(asProblem(error));
    }
    setBusy(false);
  };

  return (
    <section className={`surface ${styles.page}`}>
      <h1>Sign in</h1>
      <p>
        tidscope shows what the programs on this host do, so it opens only with the token. The token
        is the last part of the address that tidscope printed when it started:
      </p>
      <pre className={styles.example}>{`${window.location.origin}/?token=…`}</pre>
      <p>
        Open that address, or paste it (or only the token) below. It is in the terminal where{" "}
        <code>tidscope up</code> or <code>make up</code> runs.
      </p>
      <form className={styles.form} onSubmit={(event) => void submit(event)}>
        <label className={styles.label} htmlFor="token">
          Address or token
        </label>
        <input
          id="token"
          className={`text-field ${styles.input}`}
          value={pasted}
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => setPasted(event.target.value)}
        />
        <Button type="submit" look="primary" disabled={busy}>
          Sign in
        </Button>
      </form>
      {mistake === "" ? null : <Notice status="error" title={mistake} urgent />}
      {problem === null ? null : <ProblemNotice problem={problem} />}
    </section>
  );
}
