// A list of sentences as one text, and back. One protocol has a list of requirements where another has a text with
// instructions, so a list becomes a numbered text that people and agents read as such. Nothing is lost either way:
//
// 1. listOf(textOf(list)) is the list again, for every list.
// 2. textOf(listOf(text)) is the text again, for every text.

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

/** The items of a text that textOf has made, or could have made, from more than a plain sentence; otherwise null. */
function numberedItems(text: string): string[] | null {
  const items: string[] = [];
  for (const line of text.split("\n")) {
    const start = `${items.length + 1}. `;
    if (line.startsWith(start)) items.push(line.slice(start.length));
    else if (items.length > 0 && line.startsWith(INDENT)) items.push(`${items.pop()}\n${line.slice(INDENT.length)}`);
    else return null;
  }
  const [only] = items;
  // A single numbered sentence is a text that happens to begin with a number, unless it had to be numbered.
  if (items.length === 1 && only !== undefined && only !== "" && numberedItems(only) === null) return null;
  return items;
}
