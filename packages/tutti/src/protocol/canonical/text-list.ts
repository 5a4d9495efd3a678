// Converts a list of sentences to one text and back. One protocol has a list of requirements where another has a text
// with instructions, so a list becomes a numbered text. Nothing is lost in either direction:
//
// 1. `listOf(textOf(list))` equals the list, for every list.
// 2. `textOf(listOf(text))` equals the text, for every text.

const INDENT = "   ";

export function textOf(list: readonly string[]): string {
  const [first] = list;
  if (first === undefined) return "";
  if (list.length === 1 && numberedItems(first) === null && first !== "") return first;
  return list.map((item, index) => `${index + 1}. ${item.replaceAll("\n", `\n${INDENT}`)}`).join("\n");
}

export function listOf(text: string): string[] {
  return text === "" ? [] : (numberedItems(text) ?? [text]);
}

/** Returns the items of a text that `textOf` could have produced by numbering; null for any other text. */
function numberedItems(text: string): string[] | null {
  const items: string[] = [];
  for (const line of text.split("\n")) {
    const start = `${items.length + 1}. `;
    if (line.startsWith(start)) items.push(line.slice(start.length));
    else if (items.length > 0 && line.startsWith(INDENT)) items.push(`${items.pop()}\n${line.slice(INDENT.length)}`);
    else return null;
  }
  const [only] = items;
  // A single numbered sentence is a text that happens to start with a number, unless `textOf` had to number it.
  if (items.length === 1 && only !== undefined && only !== "" && numberedItems(only) === null) return null;
  return items;
}
