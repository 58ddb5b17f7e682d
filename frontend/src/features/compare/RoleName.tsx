import { theme } from "../../base/theme";
import { useStore } from "../../base/useStore";
import { CHART_THEMES } from "../../chart/chartTheme";
import { SmallMarker } from "../../chart/Marker";
import { colourStyle } from "../../chart/palette";
import { roleColour } from "../../stream/threads";
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
