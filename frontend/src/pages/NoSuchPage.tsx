import { Blank } from "../ui/Blank";

/** An address that names nothing. */
export function NoSuchPage({ path }: { readonly path: string }) {
  return (
    <Blank title="There is no such page">
      <p>
        <code>{path}</code> is not a page of tidscope. <a href="/">Live</a> and{" "}
        <a href="/doctor">Doctor</a> are.
      </p>
    </Blank>
  );
}
