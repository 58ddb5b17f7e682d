import { useState } from "react";
import { setRate } from "../../api/client";
import { asProblem } from "../../api/problem";
import { Select } from "../../ui/Select";
import type { Problem, Target } from "../../wire/generated/models";

const RATES = [1, 2, 5, 10, 20, 50, 100] as const;

interface RateSelectProps {
  readonly target: Target;
  readonly onProblem: (problem: Problem | null) => void;
}

/** Samples a second. */
export function RateSelect({ target, onProblem }: RateSelectProps) {
  const [wanted, setWanted] = useState<number | null>(null);
  const rates = [...new Set([...RATES, target.rate_hz])].sort((a, b) => a - b);
  const change = async (text: string) => {
    setWanted(Number(text));
    onProblem(null);
    try {
      await setRate(target.id, Number(text));
    } catch (error) {
      onProblem(asProblem(error));
    }
    setWanted(null);
  };
  return (
    <Select
      label="Rate"
      value={String(wanted ?? target.rate_hz)}
      disabled={target.state !== "attached" || wanted !== null}
      choices={rates.map((rate) => ({ value: String(rate), label: `${rate} Hz` }))}
      onChange={(text) => void change(text)}
    />
  );
}
