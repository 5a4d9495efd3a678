import { useEffect, useRef, useState, type RefObject } from "react";

interface VisibleRows {
  from: number;
  to: number;
  /** Height of one row in pixels, for the space of the rows that are not rendered. */
  height: number;
}

/** Shorter lists are rendered whole. */
const MOST_WHOLE = 100;
/** Rows beyond the window on both sides. The range changes in steps of as many. */
const MARGIN = 20;
const HEIGHT = 61;

/** The rows of `list` that are near the window: thousands of them would slow down the page. */
export function useVisibleRows(list: RefObject<HTMLElement | null>, count: number): VisibleRows {
  const [rows, setRows] = useState<VisibleRows>({ from: 0, to: MOST_WHOLE, height: HEIGHT });
  const height = useRef<number | null>(null);
  const isWhole = count <= MOST_WHOLE;
  useEffect(() => {
    if (isWhole) return;
    const update = () => {
      const box = list.current;
      if (box === null) return;
      height.current ??= box.querySelector(".run-item")?.getBoundingClientRect().height ?? HEIGHT;
      const each = height.current;
      const first = -box.getBoundingClientRect().top / each;
      const from = Math.max(0, Math.floor(first / MARGIN - 1) * MARGIN);
      const to = Math.ceil((first + innerHeight / each) / MARGIN + 1) * MARGIN;
      setRows((now) => (now.from === from && now.to === to && now.height === each ? now : { from, to, height: each }));
    };
    const measure = () => {
      height.current = null;
      update();
    };
    update();
    addEventListener("scroll", update, { passive: true });
    addEventListener("resize", measure);
    return () => {
      removeEventListener("scroll", update);
      removeEventListener("resize", measure);
    };
  }, [list, isWhole]);
  if (isWhole) return { from: 0, to: count, height: HEIGHT };
  const to = Math.min(count, rows.to);
  return { ...rows, from: Math.min(rows.from, to), to };
}
