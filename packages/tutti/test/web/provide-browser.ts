// Finds or installs the browser once, before test files that need it run side by side.
import { findBrowser, NO_BROWSER } from "./browser.ts";

console.log(findBrowser() ?? NO_BROWSER);
