// Loads the page again if its entry script, or one that it imports, is lost on the way. Without them the page is empty.
const MOST_RELOADS = 3;
const RELOADS_KEY = "tutti-reloads";

/** Without `sessionStorage` a script that is always missing would reload the page for ever. */
function mayReload() {
  try {
    const count = Number(sessionStorage.getItem(RELOADS_KEY)) + 1;
    sessionStorage.setItem(RELOADS_KEY, String(count));
    return count <= MOST_RELOADS;
  } catch {
    return false;
  }
}

async function untilHealthy() {
  for (;;) {
    const response = await fetch("/api/health").catch(() => null);
    if (response?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
}

addEventListener(
  "error",
  ({ target }) => {
    if (target instanceof HTMLScriptElement && target.type === "module" && mayReload())
      void untilHealthy().then(() => location.reload());
  },
  { capture: true },
);
