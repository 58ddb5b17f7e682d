import { type RefObject, useEffect } from "react";
import { READABLE_MS, useThrottled } from "../../base/useStore";
import { useVisibility } from "../../chart/useVisibility";
import { useLiveClient } from "../../stream/clients";
import type { FactViews } from "../../stream/factViews";
import type { FactPart } from "../../stream/viewRequest";

/** A view of frame tables, made while its panel can be seen; null until there is one. */
export function useFacts<P extends FactPart>(
  part: P,
  place: RefObject<HTMLElement | null>,
): FactViews[P] | null {
  const client = useLiveClient();
  const inView = useVisibility(place);
  const view = useThrottled(client.facts[part], READABLE_MS);
  // Out of view it keeps its last picture, once there is one.
  const wanted = inView || view === null || ("state" in view && view.state === "waiting");
  useEffect(() => (wanted ? client.mountFacts(part) : undefined), [client, part, wanted]);
  return view;
}
