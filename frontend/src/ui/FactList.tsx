import type { ReactNode } from "react";
import { Tooltip } from "./Tooltip";

/** A name and value, with optional details on request. */
export type Fact = readonly [name: string, value: string, tip: ReactNode];

/** List of facts in a header, by name. */
export function FactList({
  facts,
  className,
}: {
  readonly facts: readonly Fact[];
  readonly className: string | undefined;
}) {
  return (
    <dl className={className}>
      {facts.map(([name, value, tip]) => (
        <div key={name} data-fact={name}>
          <dt>{name}</dt>
          <dd>
            <Tooltip text={tip}>{value}</Tooltip>
          </dd>
        </div>
      ))}
    </dl>
  );
}
