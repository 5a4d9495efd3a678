// Runs before the first paint, so that a chosen theme never shows up as a flash of the other one.
try {
  const chosen = localStorage.getItem("tutti-theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
} catch {
  // Storage is switched off; the system's theme it is.
}
