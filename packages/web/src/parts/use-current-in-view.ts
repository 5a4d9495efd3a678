import { useEffect, type RefObject } from "react";

/** Scrolls a row of tabs, of which a narrow window shows a part, to its current tab. */
export function useCurrentInView(row: RefObject<HTMLElement | null>, current: string): void {
  useEffect(() => {
    const tab = row.current?.querySelector("[aria-current]");
    if (!tab) return;
    const [inner, outer] = [tab.getBoundingClientRect(), row.current!.getBoundingClientRect()];
    if (inner.right > outer.right) row.current!.scrollLeft += inner.right - outer.right;
    if (inner.left < outer.left) row.current!.scrollLeft -= outer.left - inner.left;
  }, [row, current]);
}
