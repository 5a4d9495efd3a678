// Converts the documentation comments of a language to Markdown with the tags of JSDoc, which `renderDoc` renders.

/** C#: the XML elements of `///` comments. */
export function fromXmlDoc(doc: string): string {
  const inline = doc
    .replaceAll(
      /<(?:see|seealso|paramref|typeparamref)\s+(?:cref|name|langword)="(?:[A-Z]:)?([^"]*)"\s*(?:\/>|>[^<]*<\/\w+>)/g,
      "`$1`",
    )
    .replaceAll(/<(?:see|seealso)\s+href="([^"]*)"\s*\/>/g, "$1")
    .replaceAll(/<c>([\s\S]*?)<\/c>/g, "`$1`")
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

/** Java: inline tags and the HTML of Javadoc. */
export function fromJavadoc(doc: string): string {
  return fromHtml(
    doc
      .replaceAll(
        /\{@(?:link|linkplain|code|literal|value)\s+#?([^{}]*?)\s*\}/g,
        (_, words: string) => `\`${words.replaceAll("`", "")}\``,
      )
      .replaceAll(/\{@(?:inheritDoc|value)\}/g, "")
      .replaceAll(/^(\s*@param\s+)<(\w+)>/gm, "$1$2"),
  );
}

/** PHP: types come before the names of parameters. */
export function fromPhpDoc(doc: string): string {
  return fromHtml(doc)
    .replaceAll(/^(\s*)@param\s+(\S+)\s+(?:\.\.\.)?&?(\$\w+)/gm, "$1@param {$2} $3")
    .replaceAll(/^(\s*)@(returns?|throws)\s+(?!\{)(\S+)/gm, "$1@$2 {$3}")
    .replaceAll(/\$(?=\w+)/g, "");
}

/** Ruby: the tags of YARD. */
export function fromYard(doc: string): string {
  return doc
    .replaceAll(/^(\s*)@param\s+(\w+)\s+\[([^\]]*)\]/gm, "$1@param {$3} $2")
    .replaceAll(/^(\s*)@param\s+\[([^\]]*)\]\s+(\w+)/gm, "$1@param {$2} $3")
    .replaceAll(
      /^(\s*)@(returns?|raise|yield)\s+\[([^\]]*)\]/gm,
      (_, indent, name, type) => `${indent}@${name === "raise" ? "throws" : name} {${type}}`,
    )
    .replaceAll(/^:(?:nodoc|call-seq|startdoc|stopdoc):.*$/gm, "")
    .replaceAll(/(?<![\w+])\+([\w.:?!#=]+)\+(?!\w)/g, "`$1`")
    .replaceAll(/<tt>([\s\S]*?)<\/tt>/g, "`$1`")
    .trim();
}

/** C and C++: the commands of Doxygen. */
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

function fromHtml(doc: string): string {
  return doc
    .replaceAll(
      /<pre>\s*(?:\{@code)?\n?([\s\S]*?)\}?\s*<\/pre>/g,
      (_, code: string) => `\n\`\`\`\n${unescapeXml(code)}\n\`\`\`\n`,
    )
    .replaceAll(/<(code|tt)>([\s\S]*?)<\/\1>/g, (_, __, words: string) => `\`${unescapeXml(words)}\``)
    .replaceAll(/<a\s[^>]*href="([^"]*)"[^>]*>([\s\S]*?)<\/a>/g, (_, target: string, words: string) =>
      /^https?:/.test(target) ? `[${oneLine(words)}](${target})` : words,
    )
    .replaceAll(/<li>\s*/g, "\n- ")
    .replaceAll(/<(?:p|br)\s*\/?>/g, "\n\n")
    .replaceAll(/<\/?(?:p|ul|ol|li|b|i|em|strong|h\d|blockquote|div|span|dl|dt|dd)\b[^>]*>/g, "")
    .replaceAll(/\n{3,}/g, "\n\n")
    .trim();
}

function keep(tags: string[], tag: string): string {
  tags.push(tag);
  return "";
}

function unescapeXml(text: string): string {
  return text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", '"').replaceAll("&amp;", "&");
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
