import { translate } from "../../text/language.ts";
import type { ReactNode } from "react";

interface Properties<T> {
  title: string;
  items: readonly T[];
  /** Further items are only counted. */
  most: number;
  open?: boolean;
  wide?: boolean;
  children: (item: T) => ReactNode;
}

export function FoldedList<T>({ title, items, most, open = true, wide = false, children }: Properties<T>) {
  return (
    <details className="folded" open={open}>
      <summary>{title}</summary>
      <ul className={`plain-list${wide ? " is-wide" : ""}`} tabIndex={0} aria-label={title}>
        {items.slice(0, most).map(children)}
        {items.length > most && (
          <li className="muted">{translate("and {count} more", { count: items.length - most })}</li>
        )}
      </ul>
    </details>
  );
}
