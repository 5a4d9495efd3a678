/**
 * A `ref` that gives a new element the focus. Browsers obey the attribute `autofocus` only while nothing has the focus, and
 * Preact has no `autoFocus` of its own.
 */
export const focusOnMount = (element: HTMLElement | null): void => element?.focus();
