import { Button } from "../../ui/Button";
import type { MatchedRole } from "../../wire/generated/models";
import shared from "./ComparePage.module.css";
import { type CompareLink, corrected, type PartProps } from "./link";
import styles from "./RoleMatching.module.css";

/** Which role of one run is held against which of another; a person may say otherwise. */
export function RoleMatching({ link, comparison, onLink }: PartProps) {
  const { roles, runs } = comparison;
  const own = runs.map((_, place) => roles.flatMap((role) => role.roles[place] ?? []));
  const told = link.match.length;
  return (
    <details className={`${shared.panel} ${styles.matching}`} open={told > 0}>
      <summary>
        <h2>Roles that are compared with one another</h2>{" "}
        <span className={shared.hint}>
          matched by name{told > 0 ? `, ${told} by hand` : ""}: a role is a thread's name with each
          number as one #
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
                <th scope="row">{role.label}</th>
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
                      by hand · undo
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

/** A role of a run is chosen for a row; "" takes the one that is there out of it. */
function chosen(
  link: CompareLink,
  run: string,
  { label, roles }: MatchedRole,
  place: number,
  role: string,
): CompareLink {
  const before = roles[place] ?? null;
  if (role !== "") {
    // What stood there must not be called the same.
    const free = before === null ? link : corrected(link, run, before, "");
    return corrected(free, run, role, label);
  }
  return before === null ? link : corrected(link, run, before, `${before} (alone)`);
}

/** Back to names: nothing is said of the roles of a row. */
function byName(link: CompareLink, { label }: MatchedRole): CompareLink {
  return { ...link, match: link.match.filter((one) => one.label !== label) };
}
