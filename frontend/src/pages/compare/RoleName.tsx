import { theme } from "../../base/theme";
import { useStore } from "../../base/useStore";
import { SmallMarker } from "../../charts/Marker";
import { colourStyle } from "../../charts/palette";
import { roleColour } from "../../model/threads";
import { CHART_THEMES } from "../live/scope/chartTheme";
import styles from "./RoleName.module.css";
import { roleHueOf } from "./roleHue";

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
