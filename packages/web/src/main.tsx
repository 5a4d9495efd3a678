import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { live } from "./live/live-store.ts";
import { loadLanguage } from "./text/choose-language.ts";
import { loadWithServer } from "./shell/lazy-part.ts";
import { keepClicks } from "./parts/keep-clicks.ts";
import { takeAddressFromHash } from "./shell/route.ts";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/shell.css";
import "./styles/inbox.css";

try {
  sessionStorage.removeItem("tutti-reloads");
} catch {
  // `reload.js` counts nothing then.
}
takeAddressFromHash();
keepClicks();
live.begin();
await loadLanguage();
// The views have texts in constants, so `App` is imported after `loadLanguage`.
const { App } = await loadWithServer(() => import("./app.tsx"));
createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
