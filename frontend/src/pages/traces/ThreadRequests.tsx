import { PageLink } from "../../ui/PageLink";
import { EMPTY_TRACES, tracesHref } from "./link";
import type { LinkProps } from "./props";
import { RequestsPanel } from "./RequestsPanel";
import { timesText } from "./TimeSelect";
import styles from "./TracesPage.module.css";

/** Requests that a thread, or a process, had a part in. */
export function ThreadRequests(props: LinkProps) {
  const { link } = props;
  const what = link.tid === null ? `process ${link.pid}` : `thread ${link.tid}`;
  return (
    <section className={styles.page}>
      <header className={styles.head}>
        <h1>
          <PageLink href={tracesHref(EMPTY_TRACES)}>Traces</PageLink> › requests with a span of{" "}
          {what}
        </h1>
        <span className={styles.hint}>{timesText(link)}</span>
      </header>
      <RequestsPanel {...props} />
    </section>
  );
}
