import { type FormEvent, useState } from "react";
import { asProblem } from "../api/http";
import { addressSignIn, signIn, tokenIn } from "../api/session";
import { useStore } from "../base/useStore";
import { Button } from "../ui/Controls";
import { Notice, ProblemNotice } from "../ui/Notices";
import type { Problem } from "../wire/generated/models";
import styles from "./App.module.css";

/** Form for the token if there is no session, with a hint where the token is printed. */
export function SignInPage() {
  const address = useStore(addressSignIn);
  const [pasted, setPasted] = useState("");
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [mistake, setMistake] = useState("");

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const token = tokenIn(pasted);
    addressSignIn.set({ state: "none" });
    setProblem(null);
    setMistake(token === "" ? "No token found in this text." : "");
    if (token === "") {
      return;
    }
    setBusy(true);
    try {
      await signIn(token);
    } catch (error) {
      setProblem(asProblem(error));
      setBusy(false);
    }
  };

  return (
    <section className={`surface ${styles.page}`}>
      <h1>Sign in</h1>
      <p>
        tidscope shows what the programs on this host do, so it opens only with the token. The token
        is the last part of the address that tidscope printed when it started:
      </p>
      <pre className={styles.example}>{`${window.location.origin}/#token=…`}</pre>
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
        <Button type="submit" variant="primary" disabled={busy}>
          Sign in
        </Button>
      </form>
      {address.state === "misplaced" ? (
        <Notice status="warning" title="The token in this address was not used">
          Tokens are accepted behind <code>#token=</code> only, where they stay in the browser. This
          one was sent to the server: restart tidscope for another, or paste it above.
        </Notice>
      ) : null}
      {address.state === "refused" ? <ProblemNotice problem={address.problem} /> : null}
      {mistake === "" ? null : <Notice status="error" title={mistake} urgent />}
      {problem === null ? null : <ProblemNotice problem={problem} />}
    </section>
  );
}
