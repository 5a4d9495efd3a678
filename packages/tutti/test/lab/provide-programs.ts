// Finds or installs all programs that tests need, once, before the tests run in parallel.
import { BUBBLEWRAP } from "./bubblewrap.ts";
import { POSTGRES } from "./postgres.ts";
import { provide } from "./required-program.ts";
import { SHELLS } from "../cli/shells.ts";
import { STRACE } from "../power/strace.ts";
import { BROWSER, HEADLESS_BROWSER } from "../web/browser.ts";

const programs = [HEADLESS_BROWSER, BROWSER, STRACE, POSTGRES, BUBBLEWRAP, ...SHELLS];
for (const [index, found] of provide(programs).entries()) {
  const { name, advice } = programs[index]!;
  console.log(`${name}: ${found ?? advice}`);
}
