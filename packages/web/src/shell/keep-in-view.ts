/** Any of these means that the user looks at the page already. */
const ACTIONS = ["wheel", "touchstart", "pointerdown", "keydown"] as const;

/** Scrolls to the element while the parts above it load, until the first of `ACTIONS`. It is null if the page is gone. */
export function keepInView(element: HTMLElement | null): void {
  if (element === null) return;
  const observer = new ResizeObserver(() => {
    if (!element.isConnected) stop();
    else if (element.getBoundingClientRect().top > innerHeight / 2) element.scrollIntoView();
  });
  const stop = () => {
    observer.disconnect();
    for (const action of ACTIONS) removeEventListener(action, stop);
  };
  observer.observe(document.body);
  for (const action of ACTIONS) addEventListener(action, stop, { passive: true });
}
