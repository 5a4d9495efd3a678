// Finds or installs strace once, before the tests run in parallel.
import { findStrace, NO_STRACE } from "./strace.ts";

console.log(findStrace() ?? NO_STRACE);
