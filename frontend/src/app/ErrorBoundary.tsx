import { Component, type ReactNode } from "react";
import { asProblem } from "../api/problem";
import { Button } from "../ui/Button";
import { ProblemNotice } from "../ui/ProblemNotice";
import type { Problem } from "../wire/generated/models";

interface State {
  readonly problem: Problem | null;
}

/**
 * Boundary for render errors: an error is shown in place of the page, and the top bar still works.
 */
export class ErrorBoundary extends Component<{ readonly children: ReactNode }, State> {
  override state: State = { problem: null };

  static getDerivedStateFromError(error: unknown): State {
    return { problem: asProblem(error) };
  }

  override render(): ReactNode {
    const { problem } = this.state;
    return problem === null ? (
      this.props.children
    ) : (
      <ProblemNotice
        problem={problem}
        actions={<Button onClick={() => window.location.reload()}>Reload</Button>}
      />
    );
  }
}
