import type { ReactNode } from "react";
import { Tooltip } from "./Tooltip";

/** What is called how, and more of it on request. */
export type Fact = readonly [name: string, value: string, tip: ReactNode];

/** Facts of a header, by name. */
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
