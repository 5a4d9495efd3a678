import type { MouseEvent, ReactNode } from "react";
import { navigate } from "./route.ts";

/** A link that navigates without a reload. With a modifier key or another mouse button it acts as an ordinary link. */
export function Link({ to, className, children }: { to: string; className?: string; children: ReactNode }) {
  const follow = (event: MouseEvent) => {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    navigate(to);
  };
  return (
    <a href={to} className={className} onClick={follow}>
      {children}
    </a>
  );
}
