// Reads HTTP routes that are registered in the style of Express: `router.get("/orders/:id", …)`.
import type { ScriptContext } from "./javascript-context.ts";
import { stringValue } from "./javascript-imports.ts";
import { textAt } from "./javascript-syntax.ts";

const METHODS = new Set(["get", "post", "put", "patch", "delete", "head", "options", "all"]);
const ROUTER = /(?:app|router|routes|server|api)$/i;
const MAX_ROUTES = 300;

export function readRoutes({ tokens, facts }: ScriptContext): void {
  for (let at = 0; at + 4 < tokens.list.length && facts.routes.length < MAX_ROUTES; at += 1) {
    if (!ROUTER.test(textAt(tokens, at)) || textAt(tokens, at + 1) !== "." || textAt(tokens, at + 3) !== "(") continue;
    const method = textAt(tokens, at + 2);
    const path = tokens.list[at + 4]!;
    if (!METHODS.has(method) || path.type !== "string" || textAt(tokens, at + 5) !== ",") continue;
    const value = stringValue(path.text);
    if (value.startsWith("/")) facts.routes.push({ method: method.toUpperCase(), path: value, line: path.line });
  }
}
