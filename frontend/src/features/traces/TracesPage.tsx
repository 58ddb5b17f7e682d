/**
 * Feature `traces`: a set of traces in the address in, the backend's analyses as panels out. It
 * must not find critical paths.
 */

import { useMemo } from "react";
import { navigate } from "../../base/routing";
import { Button, PageLink } from "../../ui/Controls";
import { ConnectionNotice } from "../attach/ConnectionNotice";
import { EndpointPage } from "./EndpointPage";
import { EndpointsPage } from "./EndpointsPage";
import { EMPTY_TRACES, parseTracesLink, tracesHref } from "./link";
import type { LinkProps } from "./props";
import { RequestsPanel } from "./RequestsPanel";
import { TimeSelect } from "./SetControls";
import styles from "./TracesPage.module.css";

/** The list of endpoints, or the endpoint that the address names. */
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

/** Requests that involved a thread or process, and their wait for it. */
function ThreadRequests(props: LinkProps) {
  const { link, onLink } = props;
  const { pid, tid } = link;
  const what = tid === null ? `process ${pid}` : `thread ${tid}`;
  return (
    <section className={styles.page}>
      <header className={styles.head}>
        <h1>
          <PageLink href={tracesHref(EMPTY_TRACES)}>Traces</PageLink> › requests of {what}
        </h1>
        <TimeSelect set={link} onSet={onLink} />
        {tid === null || pid === null ? null : (
          <Button onClick={() => onLink({ tid: null })}>Requests of process {pid}</Button>
        )}
      </header>
      {tid === null ? null : (
        <p className={styles.hint}>
          Requests with a span whose attribute thread.id is {tid}. Where spans name no thread, as
          those of Go do not, look at the requests of the process.
        </p>
      )}
      <RequestsPanel key={tid} {...props} />
    </section>
  );
}
