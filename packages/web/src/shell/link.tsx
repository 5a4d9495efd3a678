import type { MouseEvent, ReactNode } from "react";
import { navigate, replaceAddress } from "./route.ts";

interface Properties {
  to: string;
  className?: string;
  current?: boolean;
  /** Changes the address without a step back in the history. */
  replace?: boolean;
  /** Leaves the link out of the order of Tab. */
  isSkipped?: boolean;
  children: ReactNode;
}

/** Calls `navigate` instead of a reload. With a modifier key or another mouse button it acts as an ordinary link. */
export function Link({ to, className, current = false, replace = false, isSkipped = false, children }: Properties) {
  const follow = (event: MouseEvent) => {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    (replace ? replaceAddress : navigate)(to);
  };
  return (
    <a
      href={to}
      className={className}
      aria-current={current ? "page" : undefined}
      tabIndex={isSkipped ? -1 : undefined}
      onClick={follow}
    >
      {children}
    </a>
  );
}
