import type { MouseEvent, ReactNode } from "react";
import { navigate } from "./route.ts";

interface Properties {
  to: string;
  className?: string;
  current?: boolean;
  children: ReactNode;
}

/** A link that navigates without a reload. With a modifier key or another mouse button it acts as an ordinary link. */
export function Link({ to, className, current = false, children }: Properties) {
  const follow = (event: MouseEvent) => {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    navigate(to);
  };
  return (
    <a href={to} className={className} aria-current={current ? "page" : undefined} onClick={follow}>
      {children}
    </a>
  );
}
