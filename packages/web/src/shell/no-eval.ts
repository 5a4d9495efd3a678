// Must be imported first. Zod tests on load whether it may compile code; the server's content policy forbids that, and the
// browser would log a violation. `jitless` skips the test.
export const settings = globalThis as { __zod_globalConfig?: { jitless: boolean } };
settings.__zod_globalConfig = { jitless: true };
