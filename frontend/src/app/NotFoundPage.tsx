import { EmptyState } from "../ui/EmptyState";
import { PageLink } from "../ui/PageLink";

/** An address that names nothing. */
export function NotFoundPage({ path }: { readonly path: string }) {
  return (
    <EmptyState title="Page not found" page>
      <p>
        <code>{path}</code> does not exist. Go to <PageLink href="/">Live</PageLink>,{" "}
        <PageLink href="/runs">Runs</PageLink>, <PageLink href="/compare">Compare</PageLink> or{" "}
        <PageLink href="/doctor">Doctor</PageLink>.
      </p>
    </EmptyState>
  );
}
