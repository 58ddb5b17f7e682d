import { theme } from "../../base/theme";
import { useStore } from "../../base/useStore";
import { SmallMarker } from "../../chart/Marker";
import { CHART_THEMES, colourStyle } from "../../chart/palette";
import { RoleHues } from "../../stream/roleHues";
import { roleColour } from "../../stream/threads";
import { Button } from "../../ui/Controls";
import type { MatchedRole } from "../../wire/generated/models";
import shared from "./ComparePage.module.css";
import { type CompareLink, corrected, type PartProps } from "./link";

/** Matching of roles between runs: by name, or manual. */
export function RoleMatching({ link, comparison, onLink }: PartProps) {
  const { roles, runs } = comparison;
  const own = runs.map((_, place) => roles.flatMap((role) => role.roles[place] ?? []));
  const manual = link.match.length;
  return (
    <details className={`${shared.panel} ${shared.matching}`} open={manual > 0}>
      <summary>
        <h2>Matched roles</h2>{" "}
        <span className={shared.hint}>
          by name{manual > 0 ? `, ${manual} manually` : ""}; a role is a thread name with each
          number replaced by #
        </span>
      </summary>
      <div className={shared.scroll}>
        <table className={shared.table}>
          <thead>
            <tr>
              <th scope="col">Role</th>
              {runs.map(({ run, name }) => (
                <th key={run} scope="col">
                  {name}
                </th>
              ))}
              <td />
            </tr>
          </thead>
          <tbody>
            {roles.map((role) => (
              <tr key={role.label} data-role={role.label}>
                <th scope="row">
                  <RoleName role={role.label} roles={roles} />
                </th>
                {runs.map(({ run, name }, place) => (
                  <td key={run}>
                    <select
                      className={shared.select}
                      aria-label={`${role.label} in ${name}`}
                      value={role.roles[place] ?? ""}
                      onChange={(event) =>
                        onLink(chosen(link, run, role, place, event.target.value))
                      }
                    >
                      <option value="">none</option>
                      {own[place]?.map((each) => (
                        <option key={each} value={each}>
                          {each}
                        </option>
                      ))}
                    </select>
                  </td>
                ))}
                <td>
                  {role.manual ? (
                    <Button variant="quiet" onClick={() => onLink(byName(link, role))}>
                      manual · undo
                    </Button>
                  ) : null}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}

/** Match a role of a run with a row; "" removes the current match. */
function chosen(
  link: CompareLink,
  run: string,
  { label, roles }: MatchedRole,
  place: number,
  role: string,
): CompareLink {
  const before = roles[place] ?? null;
  if (role !== "") {
    // The previously matched role must lose the label.
    const free = before === null ? link : corrected(link, run, before, "");
    return corrected(free, run, role, label);
  }
  return before === null ? link : corrected(link, run, before, `${before} (alone)`);
}

/** Undo manual matches of a row. */
function byName(link: CompareLink, { label }: MatchedRole): CompareLink {
  return { ...link, match: link.match.filter((one) => one.label !== label) };
}

interface RoleNameProps {
  readonly role: string;
  readonly roles: readonly { readonly label: string }[];
}

/** A role with its colour and marker, the same in all panels and runs. */
export function RoleName({ role, roles }: RoleNameProps) {
  const colours = CHART_THEMES[useStore(theme)];
  return (
    <span className={shared.role}>
      <SmallMarker style={colourStyle(roleColour(roleHueOf(role, roles)), colours)} /> {role}
    </span>
  );
}

type Roles = readonly { readonly label: string }[];

const known = new WeakMap<Roles, RoleHues>();

/** Palette index of a role (see RoleHues), among the roles of a comparison, busiest first. */
function roleHueOf(role: string, roles: Roles): number {
  let hues = known.get(roles);
  if (hues === undefined) {
    hues = new RoleHues();
    for (const { label } of roles) hues.of(nameOf(label));
    known.set(roles, hues);
  }
  return hues.of(nameOf(role));
}

/**
 * Role part of a label: a role split by process name keeps the role's colour: "postgres →
 * worker-#".
 */
function nameOf(label: string): string {
  return label.split(" → ").at(-1) ?? label;
}
