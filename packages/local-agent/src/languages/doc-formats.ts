// Converts the documentation comments of a language to Markdown with the tags of JSDoc, which `renderDoc` renders.
import { commentWords } from "./comments.ts";

/** C#: the XML elements of `///` comments. */
export function fromXmlDoc(doc: string): string {
  const inline = doc
    // A reference after the text is no part of it.
    .replaceAll(/^\s*<seealso\b[^>]*(?:\/>|>.*<\/seealso>)\s*$/gm, "")
    .replaceAll(
      /<(?:see|seealso|paramref|typeparamref)\s+(?:cref|name|langword)="(?:[A-Z]:)?([^"]*)"\s*(?:\/>|>[^<]*<\/\w+>)/g,
      "`$1`",
    )
    .replaceAll(/<(?:see|seealso)\s+href="([^"]*)"\s*\/>/g, "$1")
    .replaceAll(/<c>([\s\S]*?)<\/c>/g, "`$1`")
    .replaceAll(/<code[^>]*>([^\n]*?)<\/code>/g, "`$1`")
    .replaceAll(/<code[^>]*>\n?([\s\S]*?)<\/code>/g, "\n```csharp\n$1\n```\n")
    .replaceAll(/<para\s*\/?>|<\/para>|<br\s*\/>/g, "\n\n")
    .replaceAll(
      /<item>\s*(?:<term>([\s\S]*?)<\/term>)?\s*(?:<description>)?([\s\S]*?)(?:<\/description>)?\s*<\/item>/g,
      (_, term = "", text = "") => `\n- ${[term, text].filter(Boolean).join(": ").trim()}`,
    );
  const tags: string[] = [];
  const text = inline
    .replaceAll(/<(?:param|typeparam)\s+name="([^"]*)"\s*>([\s\S]*?)<\/(?:type)?param>/g, (_, name, words) =>
      keep(tags, `@param ${name} ${words}`),
    )
    .replaceAll(/<(?:returns|value)>([\s\S]*?)<\/(?:returns|value)>/g, (_, words) => keep(tags, `@returns ${words}`))
    .replaceAll(/<exception\s+cref="(?:[A-Z]:)?([^"]*)"\s*>([\s\S]*?)<\/exception>/g, (_, type, words) =>
      keep(tags, `@throws {${type}} ${words}`),
    )
    .replaceAll(
      /<\/?(?:summary|remarks|example|list|inheritdoc|include|exception|param|returns|value|seealso)\b[^>]*>/g,
      "\n",
    );
  return tidy([unescapeXml(text), ...tags.map((tag) => unescapeXml(oneLine(tag)))]);
}

export function fromJavadoc(doc: string): string {
  const plain = withoutInlineTags(doc).replaceAll(/^(\s*@param\s+)<(\w+)>/gm, "$1$2");
  return fromHtml(plain);
}

/** Replaces tags such as `{@code a{b}}` by code spans. Braces may be nested, and a tag in `<pre>` is code already. */
function withoutInlineTags(doc: string): string {
  let text = "";
  let at = 0;
  for (const tag of doc.matchAll(/\{@(\w+)\s*/g)) {
    if (tag.index < at) continue;
    let end = tag.index + tag[0].length;
    for (let depth = 1; end < doc.length && depth > 0; end += 1)
      depth += doc[end] === "{" ? 1 : doc[end] === "}" ? -1 : 0;
    const content = doc.slice(tag.index + tag[0].length, end - 1);
    // A link may have a label, which is prose.
    const label = tag[1]!.startsWith("link") ? /^[^\s(]+(?:\([^)]*\))?\s+([^]+)$/.exec(content)?.[1] : undefined;
    const words = content.replace(/^#/, "");
    const isPre = doc.lastIndexOf("<pre", tag.index) > doc.lastIndexOf("</pre>", tag.index);
    const shown = isPre ? words : (label ?? `\`${oneLine(words).replaceAll("`", "")}\``);
    text += doc.slice(at, tag.index) + (words === "" ? "" : shown);
    at = end;
  }
  return text + doc.slice(at);
}

/** PHP: types come before the names of parameters. */
export function fromPhpDoc(doc: string): string {
  return fromHtml(doc)
    .replaceAll(/^(\s*)@param\s+(\S+)\s+(?:\.\.\.)?&?(\$\w+)/gm, "$1@param {$2} $3")
    .replaceAll(/^(\s*)@(returns?|throws)\s+(?!\{)(\S+)/gm, "$1@$2 {$3}")
    .replaceAll(/\$(?=\w+)/g, "");
}

/** Ruby: the tags of YARD and the markup of RDoc. */
export function fromYard(doc: string): string {
  return (
    doc
      .replaceAll(/^(\s*)@param\s+(\w+)\s+\[([^\]]*)\]/gm, "$1@param {$3} $2")
      .replaceAll(/^(\s*)@param\s+\[([^\]]*)\]\s+(\w+)/gm, "$1@param {$2} $3")
      .replaceAll(
        /^(\s*)@(returns?|raise|yield)\s+\[([^\]]*)\]/gm,
        (_, indent, name, type) => `${indent}@${name === "raise" ? "throws" : name} {${type}}`,
      )
      .replaceAll(/^:(?:nodoc|call-seq|startdoc|stopdoc):.*$/gm, "")
      // RDoc writes headings with `=`, and lists of terms with `::`.
      .replaceAll(/^(={1,4}) (?=\S)/gm, (_, signs: string) => `${"#".repeat(signs.length)} `)
      .replaceAll(/^([A-Z][\w ]*)::[ \t]+(?=\S)/gm, "- $1: ")
      .replaceAll(/\{([^{}]+)\}\[(https?:[^\]\s]+)\]/g, "[$1]($2)")
      .replaceAll(/(?<![\w+])\+([\w.:?!#=]+)\+(?!\w)/g, "`$1`")
      .replaceAll(/<tt>([\s\S]*?)<\/tt>/g, "`$1`")
      .trim()
  );
}

export function fromDoxygen(doc: string): string {
  return doc
    .replaceAll(/^(\s*)[@\\](?:brief|short|details?|remarks?|note|par|internal)\b[ \t]*/gm, "$1")
    .replaceAll(/^(\s*)[@\\]t?param(?:\[[^\]]*\])?\s+/gm, "$1@param ")
    .replaceAll(/^(\s*)[@\\](?:returns?|result|retval)\b[ \t]*/gm, "$1@returns ")
    .replaceAll(/^(\s*)[@\\](?:throws?|exception)\b[ \t]*(\w[\w:]*)/gm, "$1@throws {$2}")
    .replaceAll(/[@\\](?:code|verbatim)(?:\{[^}]*\})?/g, "```cpp")
    .replaceAll(/[@\\]end(?:code|verbatim)/g, "```")
    .replaceAll(/[@\\](?:c|p|a|ref|e|b|em)\s+([\w:.()~<>]+)/g, "`$1`")
    .replaceAll(
      /^\s*[@\\](?:\{|\}|defgroup|ingroup|addtogroup|name|see|sa|since|class|struct|file|fn|var|def|typedef|enum)(?!\w).*$/gm,
      "",
    )
    .trim();
}

/** Python: the markup of reStructuredText in docstrings. */
/** A link to a name, as in `[Reader]` or `[io.Reader]`, and not to a web page as in `[Text]: https://…`. */
const GO_LINK = /(?<![\w\]])\[\*?((?:[a-z]\w*\.)?[A-Z]\w*(?:\.[A-Z]\w*)?)\](?![(:[\w])/g;

/** In a comment of Go, indented lines after an empty line are code, except list items. */
export function goDocWords(raw: string): string {
  const isBlock = raw.startsWith("/*");
  const lines = (isBlock ? raw.slice(2, -2) : raw).split("\n");
  const words: string[] = [];
  let isCode = false;
  for (const line of lines) {
    const text = isBlock ? line : line.replace(/^\s*\/\/ ?/, "");
    const isIndented = /^(?:\t| {2,})\s*\S/.test(text);
    const starts = isIndented && (words.at(-1) ?? "").trim() === "" && !/^\s+(?:[-*+•]|\d+[.)])\s/.test(text);
    if (isCode && !isIndented && text.trim() !== "") {
      if (words.at(-1) === "") words.pop();
      words.push("```", "");
      isCode = false;
    } else if (!isCode && starts) {
      words.push("```");
      isCode = true;
    }
    words.push(isCode ? text.replace(/^(?:\t| {1,4})/, "") : text.replaceAll(GO_LINK, "`$1`"));
  }
  if (isCode) words.push("```");
  return commentWords(words.map((line) => `// ${line}`).join("\n"));
}

export function fromReStructured(doc: string): string {
  return doc
    .replaceAll(
      /^([ \t]*)\.\. (?:code-block|sourcecode|code)::[ \t]*(\w*)\n((?:\1[ \t]+\S.*\n?|[ \t]*\n)*)/gm,
      (_, indent: string, language: string, body: string) => fenced(body, language || "python", indent),
    )
    .replaceAll(
      /^([ \t]*)\.\. (versionadded|versionchanged|deprecated|versionremoved):: *(\S*)[ \t]*(.*)(?:\n\s*)?$/gm,
      (_, indent: string, kind: string, version: string, words: string) =>
        `${indent}*${VERSION_NOTES[kind]} ${version}.* ${words}`.trimEnd(),
    )
    .replaceAll(
      /^([ \t]*)\.\. (note|warning|tip|important|seealso|caution|attention|hint)::[ \t]*(.*)$/gim,
      (_, indent: string, kind: string, words: string) =>
        `${indent}**${kind.charAt(0).toUpperCase()}${kind.slice(1).toLowerCase()}.** ${words}`.trimEnd(),
    )
    .replaceAll(/^[ \t]*\.\. [\w:-]+::.*$/gm, "")
    .replaceAll(/^[ \t]*:(?:copyright|license|licence|author|version|date):.*$/gm, "")
    .replaceAll(
      /^([ \t]*\S.*)::[ \t]*\n[ \t]*\n((?:[ \t]+\S.*(?:\n|$)|[ \t]*\n)+)/gm,
      (whole, lead: string, body: string) => {
        const indent = /^[ \t]*/.exec(lead)![0];
        return body.startsWith(`${indent} `) || body.startsWith(`${indent}\t`)
          ? `${lead}:\n\n${fenced(body, "", indent)}`
          : whole;
      },
    )
    .replaceAll(
      /:(?:param|parameter|arg|argument|keyword|kwarg)(?: ([^:\n]+?))? (\*{0,2}\w+):[ \t]*/g,
      (_, type: string | undefined, name: string) =>
        `- \`${name}\`${type === undefined ? "" : ` (\`${type.replaceAll("`", "")}\`)`}: `,
    )
    .replaceAll(/:returns?:[ \t]*/g, "- returns ")
    .replaceAll(/:(?:raises?|except|exception) ([\w.]+):[ \t]*/g, "- raises `$1`: ")
    .replaceAll(/^[ \t]*:(?:rtype|type [^:\n]+|meta [^:\n]+|vartype [^:\n]+):.*$/gm, "")
    .replaceAll(/:(?:[\w+-]+:)?[\w+-]+:`~?([^`<]+?)(?:\s*<[^>]*>)?`/g, "`$1`")
    .replaceAll(/`([^`<\n]+?)\s*<(https?:[^>\s]+)>`__?/g, "[$1]($2)")
    .replaceAll(/``([^`]+)``/g, "`$1`")
    .replaceAll(/\n{3,}/g, "\n\n")
    .trim();
}

const VERSION_NOTES: Record<string, string> = {
  versionadded: "Added in version",
  versionchanged: "Changed in version",
  deprecated: "Deprecated since version",
  versionremoved: "Removed in version",
};

function fenced(body: string, language: string, indent: string): string {
  const lines = body.replace(/\s+$/, "").split("\n");
  while (lines[0]?.trim() === "") lines.shift();
  const inner = Math.min(...lines.filter((line) => line.trim() !== "").map((line) => line.search(/\S/)));
  const code = lines.map((line) => `${indent}${line.slice(Math.min(inner, line.length))}`);
  return lines.length === 0 ? "" : `${indent}\`\`\`${language}\n${code.join("\n")}\n${indent}\`\`\`\n\n`;
}

function fromHtml(doc: string): string {
  return doc
    .replaceAll(
      /<pre\b[^>]*>\s*\n?([\s\S]*?)\s*<\/pre>/g,
      (_, code: string) => `\n\`\`\`\n${unescapeXml(code)}\n\`\`\`\n`,
    )
    .replaceAll(/<(code|tt)>([\s\S]*?)<\/\1>/g, (_, __, words: string) => `\`${unescapeXml(words)}\``)
    .replaceAll(/<a\s[^>]*href="([^"]*)"[^>]*>([\s\S]*?)<\/a>/g, (_, target: string, words: string) =>
      /^https?:/.test(target) ? `[${oneLine(words)}](${target})` : words,
    )
    .replaceAll(/<li>\s*/g, "\n- ")
    .replaceAll(/<(?:p|br)\s*\/?>/g, "\n\n")
    .replaceAll(
      /<\/?(?:p|ul|ol|li|b|i|u|em|strong|small|sub|sup|font|center|h\d|blockquote|div|span|dl|dt|dd)\b[^>]*>/g,
      "",
    )
    .replaceAll(/\n{3,}/g, "\n\n")
    .trim();
}

function keep(tags: string[], tag: string): string {
  tags.push(tag);
  return "";
}

function unescapeXml(text: string): string {
  return text
    .replaceAll(/&#(\d{1,5});/g, (_, code: string) => String.fromCodePoint(Number(code)))
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&amp;", "&");
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}

function tidy(parts: string[]): string {
  return parts
    .map((part) =>
      part
        .split("\n")
        .map((line) => line.trim())
        .join("\n")
        .replaceAll(/\n{3,}/g, "\n\n")
        .trim(),
    )
    .filter((part) => part !== "")
    .join("\n");
}
