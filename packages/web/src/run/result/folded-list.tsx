import type { ReactNode } from "react";

interface Properties {
  title: string;
  open: boolean;
  /** Use as many columns as fit. */
  wide?: boolean;
  children: ReactNode;
}

export function FoldedList({ title, open, wide = false, children }: Properties) {
  return (
    <details className="folded" open={open}>
      <summary>{title}</summary>
      <ul className={`plain-list${wide ? " is-wide" : ""}`} tabIndex={0} aria-label={title}>
        {children}
      </ul>
    </details>
  );
}
