// Finds the sentences that the dashboard shares with the command line, the log and the built-in templates, as keys of its
// catalogue. The mark of a key follows from its place: `language.ts` of the dashboard describes the marks.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseAst } from "vitest/node";
import { ERRORS } from "../../src/schema/error.ts";

interface Node {
  type: string;
  [field: string]: unknown;
}

const source = join(import.meta.dirname, "../../src");

export function sharedSentences(): Set<string> {
  const ofLog = globSync(["run/**/*.ts", "protocol/response/*.ts"], { cwd: source }).flatMap((name) =>
    callsIn(name).map(({ text, isStored }) => `${text}${isStored ? "#stored" : "#log"}`),
  );
  const ofDoctor = globSync("doctor/*.ts", { cwd: source }).flatMap((name) =>
    callsIn(name).map(({ text }) => `${text}#doctor`),
  );
  const ofErrors = Object.keys(ERRORS).map((code) => `${code}#error`);
  const ofTemplates = globSync("template/built-in/*.json", { cwd: source }).flatMap((name) => {
    const { name: title, description } = JSON.parse(readFileSync(join(source, name), "utf8")) as Record<string, string>;
    return [`${title}#template`, `${description}#template`];
  });
  return new Set([...ofLog, ...ofDoctor, ...ofErrors, ...ofTemplates]);
}

/** The literals that are the first argument of `say` or `sentence`. With values, `sentence` gives a text of the log. */
function callsIn(name: string): { text: string; isStored: boolean }[] {
  const found: { text: string; isStored: boolean }[] = [];
  const visit = (node: Node): void => {
    const callee = (node["callee"] as Node | undefined)?.["name"];
    if (node.type === "CallExpression" && (callee === "say" || callee === "sentence")) {
      const [first, values] = node["arguments"] as Node[];
      for (const text of textsOf(first!)) found.push({ text, isStored: callee === "sentence" && values !== undefined });
    }
    for (const part of Object.values(node).flat()) if (isNode(part)) visit(part);
  };
  visit(parseAst(readFileSync(join(source, name), "utf8"), { lang: "ts", astType: "ts" }) as unknown as Node);
  return found;
}

function textsOf({ type, value, consequent, alternate }: Node): string[] {
  if (type === "ConditionalExpression") return [consequent, alternate].flatMap((node) => textsOf(node as Node));
  return type === "Literal" && typeof value === "string" ? [value] : [];
}

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && typeof (value as Node).type === "string";
