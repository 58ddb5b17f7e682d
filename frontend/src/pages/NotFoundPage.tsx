import { EmptyState } from "../ui/EmptyState";

/** An address that names nothing. */
export function NotFoundPage({ path }: { readonly path: string }) {
  return (
    <EmptyState title="There is no such page">
      <p>
        <code>{path}</code> is not a page of tidscope. <a href="/">Live</a> and{" "}
        <a href="/doctor">Doctor</a> are.
      </p>
    </EmptyState>
  );
}
