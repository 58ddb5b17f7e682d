import type { AnchorHTMLAttributes, MouseEvent } from "react";
import { navigate } from "../base/routing";

interface PageLinkProps extends AnchorHTMLAttributes<HTMLAnchorElement> {
  readonly href: string;
}

/** A link within this page: no reload, and still a link to copy or to open in another tab. */
export function PageLink({ href, ...rest }: PageLinkProps) {
  const go = (event: MouseEvent) => {
    if (!event.metaKey && !event.ctrlKey && !event.shiftKey) {
      event.preventDefault();
      navigate(href);
    }
  };
  return <a href={href} onClick={go} {...rest} />;
}
