// The parsing function of document 000, with its own texts for errors. It reads what ResponseParser reads.
import { ResponseParser } from "./response-parser.ts";

export interface OrchestratorResponse {
  found: boolean;
  phase?: string;
  data?: Record<string, unknown>;
  beforeText?: string;
  afterText?: string;
  error?: string;
  raw?: string;
}

export function parseOrchestratorResponse(text: string): OrchestratorResponse {
  const { found, phase, data, beforeText, afterText, error, code, raw } = new ResponseParser().parse(text);
  if (!found) return error === undefined ? { found, raw } : { found, error, raw };
  if (error === undefined) return { found, phase, data, beforeText, afterText };
  if (code === "missing_phase") return { found, error: "Missing phase field", raw };
  if (code === "missing_data") return { found, error: "Missing data field", raw };
  return { found, error: `JSON parse error: ${jsonError(raw) ?? error}`, raw };
}

/** What JSON.parse has against a text; null if it has nothing. */
function jsonError(text: string): string | null {
  try {
    JSON.parse(text);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
