// The parsing function of document 000. It reads the same blocks as `ResponseParser`, with the error texts of that
// document.
import { ResponseParser, type ParseResult } from "./response-parser.ts";

type OrchestratorResponse = Pick<ParseResult, "found"> & Partial<Omit<ParseResult, "code" | "incomplete" | "repairs">>;

export function parseOrchestratorResponse(text: string): OrchestratorResponse {
  const { found, phase, data, beforeText, afterText, error, code, raw } = new ResponseParser().parse(text);
  if (!found) return error === undefined ? { found, raw } : { found, error, raw };
  if (error === undefined) return { found, phase, data, beforeText, afterText };
  if (code === "missing_phase") return { found, error: "Missing phase field", raw };
  if (code === "missing_data") return { found, error: "Missing data field", raw };
  return { found, error: `JSON parse error: ${jsonError(raw) ?? error}`, raw };
}

function jsonError(text: string): string | null {
  try {
    JSON.parse(text);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
