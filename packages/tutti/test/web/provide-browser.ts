// Finds or installs the browser once, before parallel test files need it.
import { findBrowser, NO_BROWSER } from "./browser.ts";

console.log(findBrowser() ?? NO_BROWSER);
