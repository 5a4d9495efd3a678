// Finds or installs the browsers once, before parallel test files need them.
import { findBrowser, NO_BROWSER } from "./browser.ts";

console.log([false, true].map((windows) => findBrowser({ windows }) ?? NO_BROWSER).join(", "));
