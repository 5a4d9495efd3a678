import { translate } from "../text/language.ts";
import { Icon } from "../parts/icon.tsx";
import { useTheme } from "./theme.ts";

export function ThemeToggle() {
  const [theme, choose] = useTheme();
  const other = theme === "dark" ? "light" : "dark";
  const label = translate(other === "dark" ? "Switch to the dark theme" : "Switch to the light theme");
  return (
    <button type="button" className="button-icon" aria-label={label} title={label} onClick={() => choose(other)}>
      <Icon name={theme === "dark" ? "sun" : "moon"} />
    </button>
  );
}
