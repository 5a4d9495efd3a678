import { useEffect, useRef, type RefObject } from "react";

/** Scrolls to the end when `content` changes, unless the user has scrolled away from it, or a link has led elsewhere: `isLinked`. */
export function useStickToEnd(content: unknown, isLinked: boolean): RefObject<HTMLDivElement | null> {
  const box = useRef<HTMLDivElement>(null);
  const atEnd = useRef(!isLinked);
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const update = () => {
      atEnd.current = element.scrollHeight - element.scrollTop - element.clientHeight < 48;
    };
    element.addEventListener("scroll", update, { passive: true });
    return () => element.removeEventListener("scroll", update);
  }, []);
  useEffect(() => {
    if (isLinked) atEnd.current = false;
  }, [isLinked]);
  useEffect(() => {
    if (atEnd.current && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [content]);
  return box;
}
