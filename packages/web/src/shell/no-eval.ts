// Imported before anything else. The schemas of Tutti are made with zod, which tries at once whether it may write code
// of its own; the server's policy forbids that, and the browser would report the attempt. Zod reads this setting first.
export const settings = globalThis as { __zod_globalConfig?: { jitless: boolean } };
settings.__zod_globalConfig = { jitless: true };
