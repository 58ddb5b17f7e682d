import { Button } from "../../ui/Button";
import { PageLink } from "../../ui/PageLink";
import { EMPTY_TRACES, tracesHref } from "./link";
import type { LinkProps } from "./props";
import { RequestsPanel } from "./RequestsPanel";
import { TimeSelect } from "./TimeSelect";
import styles from "./TracesPage.module.css";

/** Requests that a thread, or a process, had a part in, and how long they waited for it. */
export function ThreadRequests(props: LinkProps) {
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
