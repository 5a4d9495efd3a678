// Finds or installs bubblewrap once, before the tests run in parallel.
import { findBubblewrap, NO_BUBBLEWRAP } from "./bubblewrap.ts";

console.log(findBubblewrap() ?? NO_BUBBLEWRAP);
