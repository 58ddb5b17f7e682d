import type { TraceShape, TraceShapeName } from "../../wire/generated/models";
import { timeText } from "./callTree";
import { Histogram } from "./Histogram";
import styles from "./TracesPage.module.css";

const NAMES: Readonly<Record<TraceShapeName, string>> = {
  spans: "Spans of a request",
  operations: "Operations of a request",
  duration_ns: "Latency",
  depth: "Longest chain of calls",
  path_spans: "Spans on the critical path",
  concurrency: "Calls at once",
  path_operations: "Operations on the critical path",
  callers: "Callers of an operation",
};

function countText(value: number): string {
  return value.toLocaleString("en-US", { maximumFractionDigits: 1 });
}

/** Distributions of properties of the requests of all endpoints (CRISP, figures 4.14 to 4.21). */
export function Shapes({ shapes }: { readonly shapes: readonly TraceShape[] }) {
  return (
    <ul className={styles.shapes}>
      {shapes.map(({ name, mean, p50, p95, most, bounds, counts }) => {
        const text = name === "duration_ns" ? timeText : countText;
        return (
          <li key={name}>
            <h3>{NAMES[name]}</h3>
            <Histogram
              caption={NAMES[name]}
              of={NAMES[name]}
              counted={name === "callers" ? "Operations" : "Requests"}
              bounds={bounds}
              counts={counts}
              text={text}
              marks={[
                { name: "P50", value: p50 },
                { name: "P95", value: p95 },
              ]}
            />
            <p className={styles.hint}>
              mean {text(mean)}, P50 {text(p50)}, P95 {text(p95)}, most {text(most)}
            </p>
          </li>
        );
      })}
    </ul>
  );
}
