import { useMemo } from "react";
import { navigate } from "../../base/routing";
import { ConnectionNotice } from "../attach/ConnectionNotice";
import { EndpointPage } from "./EndpointPage";
import { EndpointsPage } from "./EndpointsPage";
import { parseTracesLink, tracesHref } from "./link";
import type { LinkProps } from "./props";
import { ThreadRequests } from "./ThreadRequests";
import styles from "./TracesPage.module.css";

/** Endpoints, or the one that the address names. */
export function TracesPage({ query }: { readonly query: string }) {
  const link = useMemo(() => parseTracesLink(query), [query]);
  const parts: LinkProps = {
    link,
    onLink: (part, how = "push") => navigate(tracesHref({ ...link, ...part }), how),
  };
  return (
    <div className={styles.page}>
      <ConnectionNotice />
      {link.operation !== "" ? (
        <EndpointPage key={`${link.service}\n${link.operation}`} {...parts} />
      ) : link.tid !== null || link.pid !== null ? (
        <ThreadRequests {...parts} />
      ) : (
        <EndpointsPage {...parts} />
      )}
    </div>
  );
}
