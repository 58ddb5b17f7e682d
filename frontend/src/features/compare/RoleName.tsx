import { theme } from "../../base/theme";
import { useStore } from "../../base/useStore";
import { CHART_THEMES } from "../../chart/chartTheme";
import { SmallMarker } from "../../chart/Marker";
import { colourStyle } from "../../chart/palette";
import { RoleHues } from "../../stream/roleHues";
import { roleColour } from "../../stream/threads";
import styles from "./RoleName.module.css";

interface RoleNameProps {
  readonly role: string;
  /** All roles of the comparison. */
  readonly roles: readonly { readonly label: string }[];
}

/** A role with the colour and marker that it has in all panels and runs. */
export function RoleName({ role, roles }: RoleNameProps) {
  const colours = CHART_THEMES[useStore(theme)];
  return (
    <span className={styles.role}>
      <SmallMarker style={colourStyle(roleColour(roleHueOf(role, roles)), colours)} /> {role}
    </span>
  );
}

type Roles = readonly { readonly label: string }[];

const known = new WeakMap<Roles, RoleHues>();

/** Place of a role's colour (see RoleHues), with the roles of a comparison, the busiest first. */
function roleHueOf(role: string, roles: Roles): number {
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
