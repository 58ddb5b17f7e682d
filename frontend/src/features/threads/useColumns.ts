import { useMemo, useState } from "react";
import { type Column, columnsOf, saveColumns, savedColumns } from "./columns";

/** The columns of the table, kept in this browser. */
export function useColumns(): {
  readonly ids: readonly string[];
  readonly columns: readonly Column[];
  readonly choose: (ids: readonly string[]) => void;
} {
  const [ids, setIds] = useState(savedColumns);
  const columns = useMemo(() => columnsOf(ids), [ids]);
  const choose = (next: readonly string[]) => {
    saveColumns(next);
    setIds(next);
  };
  return { ids, columns, choose };
}
