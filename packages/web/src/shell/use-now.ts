import { useEffect, useState } from "react";

/**
 * Updated at each multiple of `everyMs` while `ticking`; otherwise the time of the last update. All clocks of a page thus
 * tick together, and the browser draws them once.
 */
export function useNow(ticking: boolean, everyMs = 1000): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!ticking) return;
    let timer: ReturnType<typeof setTimeout>;
    const tick = () => {
      setNow(Date.now());
      timer = setTimeout(tick, everyMs - (Date.now() % everyMs));
    };
    tick();
    return () => clearTimeout(timer);
  }, [ticking, everyMs]);
  return now;
}
