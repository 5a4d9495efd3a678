// `choose` stores the theme under `KEY`; `public/theme.js` reads it before the first paint. Without one, the system
// decides.
import { useState } from "react";

type Theme = "light" | "dark";
const KEY = "tutti-theme";

export function useTheme(): [Theme, (theme: Theme) => void] {
  const [theme, setTheme] = useState<Theme>(currentTheme);
  const choose = (next: Theme) => {
    document.documentElement.dataset["theme"] = next;
    try {
      localStorage.setItem(KEY, next);
    } catch {
      // Without `localStorage` the choice lasts until the page is closed.
    }
    setTheme(next);
  };
  return [theme, choose];
}

function currentTheme(): Theme {
  const chosen = document.documentElement.dataset["theme"];
  if (chosen === "light" || chosen === "dark") return chosen;
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}
