/** Colours of roles in a comparison: those of all other panels. Pure. */

import { RoleHues } from "../../stream/roleHues";

type Roles = readonly { readonly label: string }[];

const known = new WeakMap<Roles, RoleHues>();

/** Place of a role's colour (see RoleHues), with the roles of a comparison, the busiest first. */
export function roleHueOf(role: string, roles: Roles): number {
  let hues = known.get(roles);
  if (hues === undefined) {
    hues = new RoleHues();
    for (const { label } of roles) hues.of(nameOf(label));
    known.set(roles, hues);
  }
  return hues.of(nameOf(role));
}

/** A role of the processes of one name has the role's colour: "postgres → worker-#". */
function nameOf(label: string): string {
  return label.split(" → ").at(-1) ?? label;
}
