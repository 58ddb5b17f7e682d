import { Button } from "../../ui/Button";
import type { MatchedRole } from "../../wire/generated/models";
import shared from "./ComparePage.module.css";
import { type CompareLink, corrected, type PartProps } from "./link";
import styles from "./RoleMatching.module.css";
import { RoleName } from "./RoleName";

/** Which roles of different runs are compared; matched by name, or manually. */
export function RoleMatching({ link, comparison, onLink }: PartProps) {
  const { roles, runs } = comparison;
  const own = runs.map((_, place) => roles.flatMap((role) => role.roles[place] ?? []));
  const manual = link.match.length;
  return (
    <details className={`${shared.panel} ${styles.matching}`} open={manual > 0}>
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
                      className={styles.select}
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
                    <Button look="quiet" onClick={() => onLink(byName(link, role))}>
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

/** Match a role of a run with a row; "" removes the current one from it. */
function chosen(
  link: CompareLink,
  run: string,
  { label, roles }: MatchedRole,
  place: number,
  role: string,
): CompareLink {
  const before = roles[place] ?? null;
  if (role !== "") {
    // The role that was matched before must not keep the label.
    const free = before === null ? link : corrected(link, run, before, "");
    return corrected(free, run, role, label);
  }
  return before === null ? link : corrected(link, run, before, `${before} (alone)`);
}

/** Undo the manual matches of a row. */
function byName(link: CompareLink, { label }: MatchedRole): CompareLink {
  return { ...link, match: link.match.filter((one) => one.label !== label) };
}
