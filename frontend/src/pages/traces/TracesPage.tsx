import { useMemo } from "react";
import { navigate } from "../../base/routing";
import { ConnectionNotice } from "../live/ConnectionNotice";
import { EndpointPage } from "./EndpointPage";
import { EndpointsPage } from "./EndpointsPage";
import { parseTracesLink, type TracesLink, tracesHref } from "./link";
import { ThreadRequests } from "./ThreadRequests";
import styles from "./TracesPage.module.css";

/** Props of the page's parts: what is looked at, and how to look at something else. */
export interface LinkProps {
  readonly link: TracesLink;
  /** Change a part of it; "replace" leaves no step to go back to. */
  readonly onLink: (part: Partial<TracesLink>, how?: "push" | "replace") => void;
}

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
