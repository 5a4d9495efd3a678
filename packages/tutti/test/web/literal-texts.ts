// Finds English texts in the sources of the dashboard that do not pass through `translate`. They would stay English in
// every language.
import { parseAst } from "vitest/node";

interface Node {
  type: string;
  start: number;
  [field: string]: unknown;
}

/** Attributes whose texts a person reads or hears, of HTML and of the dashboard's own components. */
const SHOWN = /^(aria-label|title|placeholder|alt|label|word|question|yes|name|note|part|text|reason|summary)$/;
/** Attributes whose texts only programs read. */
const UNSHOWN = /^(class|className|key|id|data-.*|style|d|viewBox|list|href|to|type|role)$/;
/** Elements whose contents and names are the same in every language: commands, names, keys and marks. */
const CODE = new Set(["code", "kbd", "pre", "CopyLine", "Icon"]);
/** `translate`, `say`, `sentence` and `plural` have the text; the others take names that only programs read. */
const CALLS = new Set([
  "translate",
  "say",
  "sentence",
  "plural",
  "nounFor",
  "querySelector",
  "closest",
  "matchMedia",
  "useRequest",
]);
const WORD = /\p{L}{2}/u;
const SENTENCE = /\p{L}[,;:]? \p{L}{2}/u;
/** A word beside a substitution, such as ` left` in `${amount} left`. */
const PART = /^ \p{L}{2}|\p{L}{2} $/u;
/** The name of the product, and its commands, flags and branches. */
const OWN_NAME = /^\s*(tutti\b|--)/i;

/** Returns `LINE: TEXT` for each word at a place that shows it, and for each text of several words elsewhere. */
export function literalTexts(source: string): string[] {
  const found = new Map<number, string>();
  const report = (start: number, text: unknown, pattern: RegExp) => {
    if (typeof text === "string" && pattern.test(text) && !OWN_NAME.test(text))
      found.set(start + text.search(/\S/), text.trim());
  };
  const visit = (node: Node, pattern: RegExp): void => {
    switch (node.type) {
      case "JSXText":
        return report(node.start, node["value"], WORD);
      case "Literal":
        return report(node.start, node["value"], pattern);
      case "TemplateElement":
        report(node.start, (node["value"] as { cooked: string }).cooked, pattern);
        return report(node.start, (node["value"] as { cooked: string }).cooked, PART);
      case "JSXElement": {
        const opening = node["openingElement"] as Node;
        if (CODE.has(nameOf(opening["name"] as Node))) return;
        break;
      }
      case "JSXAttribute": {
        const name = nameOf(node["name"] as Node);
        const value = node["value"] as Node | null;
        if (value !== null && !UNSHOWN.test(name)) visit(value, SHOWN.test(name) ? WORD : SENTENCE);
        return;
      }
      case "CallExpression":
      case "NewExpression": {
        const callee = node["callee"] as Node;
        if (CALLS.has(nameOf(callee) || nameOf((callee["property"] as Node | undefined) ?? callee))) return;
        return parts(node).forEach((part) => visit(part, SENTENCE));
      }
      case "Property":
        // Keys are names.
        return visit(node["value"] as Node, SENTENCE);
      case "ImportDeclaration":
      case "TSLiteralType":
        return;
      case "ConditionalExpression":
        visit(node["test"] as Node, SENTENCE);
        visit(node["consequent"] as Node, pattern);
        return visit(node["alternate"] as Node, pattern);
      case "LogicalExpression":
        visit(node["left"] as Node, node["operator"] === "&&" ? SENTENCE : pattern);
        return visit(node["right"] as Node, pattern);
      case "JSXExpressionContainer":
      case "TemplateLiteral":
        return parts(node).forEach((part) => visit(part, pattern));
    }
    for (const part of parts(node)) visit(part, isShownChild(node, part) ? WORD : SENTENCE);
  };
  visit(parseAst(source, { lang: "tsx", astType: "ts" }) as unknown as Node, SENTENCE);
  return [...found].map(([start, text]) => `${source.slice(0, start).split("\n").length}: ${text}`);
}

const isShownChild = ({ type }: Node, part: Node): boolean =>
  (type === "JSXElement" || type === "JSXFragment") && part.type === "JSXExpressionContainer";

const parts = (node: Node): Node[] => Object.values(node).flat().filter(isNode);

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && typeof (value as Node).type === "string";

const nameOf = ({ name }: Node): string => (typeof name === "string" ? name : "");
