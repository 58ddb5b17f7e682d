import { type RefObject, useEffect } from "react";
import { READABLE_MS, useThrottled } from "../../base/useStore";
import { useVisibility } from "../../chart/useVisibility";
import { useLiveClient } from "../../stream/clients";
import type { FactViews } from "../../stream/factViews";
import type { FactPart } from "../../stream/viewRequest";

/** A view of frame tables, requested while its panel is visible; null until the first view. */
export function useFacts<P extends FactPart>(
  part: P,
  place: RefObject<HTMLElement | null>,
): FactViews[P] | null {
  const client = useLiveClient();
  const inView = useVisibility(place);
  const view = useThrottled(client.facts[part], READABLE_MS);
  // An invisible panel keeps its last picture, if any.
  const wanted = inView || view === null || ("state" in view && view.state === "waiting");
  useEffect(() => (wanted ? client.mountFacts(part) : undefined), [client, part, wanted]);
  return view;
}
