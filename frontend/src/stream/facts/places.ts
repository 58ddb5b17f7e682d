/**
 * Places of processes outside the target: container, systemd unit or control group, named if it
 * differs from the target's.
 */

import type { Target } from "../../wire/generated/models";
import type { TargetModel } from "../targetModel";
import { PARTIES } from "./facts";

/** Place and command line of a process outside the target; both empty for other parties. */
export interface Placed {
  /** "in container web-1", if it is in another container, unit or control group than the target. */
  readonly where: string;
  /** Command line and control group, for a tooltip. */
  readonly detail: string;
}

export const HERE: Placed = { where: "", detail: "" };

/** A name, and where the party is: "python (4711) in container web-1". */
export function nameAndPlace({
  name,
  where,
}: {
  readonly name: string;
  readonly where: string;
}): string {
  return where === "" ? name : `${name} ${where}`;
}

/** Container, unit and control group; "" if there is none, or it is not known. */
interface Place {
  readonly container: string;
  readonly unit: string;
  readonly cgroup: string;
}

export interface Places {
  /** @param party Row of the table `parties`; 0 for none. */
  of(party: number): Placed;
  /** Whether rows of the party include further processes of its name. */
  isMany(party: number): boolean;
}

/** Digits of a hexadecimal ID that are shown, as of containers by `docker ps`. */
const ID_DIGITS = 12;

export function placesOutside({ facts }: TargetModel, target: Target | null): Places {
  const { parties } = facts;
  const slots = new Map<number, number>();
  for (const slot of parties.all()) slots.set(parties.key(slot, PARTIES.party), slot);
  const here = placeOf(target);
  const isMany = (slot: number): boolean => parties.fact(slot, PARTIES.many) === 1;
  return {
    of: (party) => {
      const slot = slots.get(party);
      // The place of one process says nothing of further processes with its name.
      if (slot === undefined || isMany(slot)) return HERE;
      const text = (place: number): string => parties.text(slot, place);
      const there = {
        container: text(PARTIES.container),
        unit: text(PARTIES.unit),
        cgroup: text(PARTIES.cgroup),
      };
      const title = text(PARTIES.title);
      const group = there.cgroup === "" ? "" : `control group ${there.cgroup}`;
      const detail = [title, group].filter((each) => each !== "").join("\n");
      return { where: whereOf(there, here), detail };
    },
    isMany: (party) => {
      const slot = slots.get(party);
      return slot !== undefined && isMany(slot);
    },
  };
}

function placeOf(target: Target | null): Place {
  const { container, unit, cgroup } = target?.process ?? {};
  return {
    container: container?.name ?? container?.id ?? "",
    unit: unit ?? "",
    cgroup: cgroup ?? "",
  };
}

function whereOf(there: Place, here: Place): string {
  // Not described, or ended before it could be.
  if (there.cgroup === "") return "";
  if (there.container !== here.container && there.container !== "") {
    return `in container ${shortName(there.container)}`;
  }
  if (there.unit !== here.unit && there.unit !== "") return `in ${there.unit}`;
  if (there.container !== here.container) return "outside the container";
  const elsewhere = there.unit === here.unit && there.unit === "" && there.cgroup !== here.cgroup;
  if (!elsewhere || here.cgroup === "") return "";
  const name = there.cgroup.slice(there.cgroup.lastIndexOf("/") + 1);
  return name === "" ? "in the root control group" : `in control group ${shortName(name)}`;
}

function shortName(name: string): string {
  return /^[0-9a-f]{32,64}$/.test(name) ? name.slice(0, ID_DIGITS) : name;
}
