import type { DeclarationKind } from "../read/facts.ts";
import { dedent } from "./quote.ts";
import type { SyntaxNode } from "./syntax.ts";

interface QuotedUse {
  line: number;
  code: string;
}

/** `findUse` returns the shortest of the first `MAX_USES` uses. */
const MAX_USES = 6;
/** Most occurrences may be no uses, so `MAX_OCCURRENCES` bounds the search as well. */
const MAX_OCCURRENCES = 200;
const MAX_CHARACTERS = 900;
/** The children of a `BLOCK` are statements. */
const BLOCK =
  /^(?:program|module|source_file|translation_unit|compilation_unit|block|statement_block|statement_list|compound_statement|body_statement|function_body|constructor_body|declaration_list|do_block|then|else|switch_case|switch_default|case_statement|switch_block_statement_group|block_body|global_statement|ensure|rescue|method)$/;
const DECLARATION =
  /^(?:import|export|use|using|package|interface|type|function|method|class|struct|enum|trait|impl|namespace|preproc|template|decorated|field|singleton|const_item|extern)_?(?!call)/;
const NAME = /identifier$|^(?:constant|name|word)$/;

export function findUse(
  text: string,
  root: SyntaxNode,
  local: string,
  kind: DeclarationKind,
  maxLines: number,
): QuotedUse | null {
  const parts = local.split(/(\.|::)/).map((part) => part.replaceAll(/[^\w$.:]/g, ""));
  const pattern = parts.map((part) => part.replaceAll(/[.$]/g, "\\$&")).join("\\s*");
  if (parts[0] === "") return null;
  let best: QuotedUse | null = null;
  let uses = 0;
  let occurrences = 0;
  for (const match of text.matchAll(new RegExp(`(?<![\\w$])${pattern}(?![\\w$])`, "g"))) {
    occurrences += 1;
    if (occurrences > MAX_OCCURRENCES || uses >= MAX_USES) break;
    const end = match.index + match[0].length;
    if (!isUse(text, match.index, end, kind)) continue;
    const node = root.descendantForIndex(match.index, match.index + parts[0]!.length);
    if (!node || !NAME.test(node.type) || node.startIndex !== match.index) continue;
    const statement = statementAround(node);
    if (!statement || DECLARATION.test(statement.type)) continue;
    const code = dedent(text, statement.startIndex, statement.endIndex).trimEnd();
    const lines = code.split("\n").length;
    if (lines > maxLines || code.length > MAX_CHARACTERS || /\brequire\(/.test(code)) continue;
    uses += 1;
    if (!best || lines < best.code.split("\n").length) best = { line: statement.startPosition.row + 1, code };
  }
  return best;
}

/** Decides by the text around a name whether it is called or used as a value. */
function isUse(text: string, start: number, end: number, kind: DeclarationKind): boolean {
  const before = text.slice(Math.max(0, start - 40), start).trimEnd();
  const after = text.slice(end, end + 200).trimStart();
  if (/(?:\.|->|::|\\)$/.test(before) && !before.endsWith("...")) return false;
  if (
    /\b(?:function|class|const|let|var|import|as|def|func|fn|type|struct|interface|enum|trait|module|package|namespace)$/.test(
      before,
    )
  )
    return false;
  if (/^:(?!:)/.test(after)) return false;
  const isCalled = /^(?:!\s*)?\(|^(?:::)?<[^;(){}]*>\s*\(/.test(after) || before.endsWith("<");
  if (kind === "function") return isCalled;
  if (kind === "class") return isCalled || /\bnew$/.test(before) || /^(?:\.|::|\{)/.test(after);
  return isCalled || /^[.[]|^::/.test(after) || /[(,=]$/.test(before);
}

function statementAround(node: SyntaxNode): SyntaxNode | null {
  let at = node;
  while (at.parent) {
    if (BLOCK.test(at.parent.type)) return at;
    at = at.parent;
  }
  return null;
}
