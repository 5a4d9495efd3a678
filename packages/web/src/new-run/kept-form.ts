// The unsent form of a new run, which survives a reload in this tab. Each `source`, such as another run, has a form of its own.
const keyOf = (source: string): string => `tutti-new-run-${source}`;

export function readForm<T extends object>(source: string): Partial<T> {
  try {
    return JSON.parse(sessionStorage.getItem(keyOf(source)) ?? "{}") as Partial<T>;
  } catch {
    return {};
  }
}

export function keepForm(source: string, form: object): void {
  try {
    sessionStorage.setItem(keyOf(source), JSON.stringify(form));
  } catch {
    // Without `sessionStorage` the form lasts until the page is closed.
  }
}

export function forgetForm(source: string): void {
  try {
    sessionStorage.removeItem(keyOf(source));
  } catch {
    // Nothing was kept.
  }
}
