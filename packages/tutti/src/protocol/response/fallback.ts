// Guesses by key words the phase of an answer without a block. A guess never advances a run; at most it is mentioned in
// the next prompt.
//
// The patterns cannot backtrack excessively: every repetition follows a word and is followed by something it cannot
// match. Of a long text, only the first and last `EXAMINED_CHARACTERS` characters are tested.
const FALLBACK_PHASES = ["analysis", "task_list", "progress", "completion", "error"] as const;
type FallbackPhase = (typeof FALLBACK_PHASES)[number];

export interface FallbackDetection {
  detected: boolean;
  probablePhase: FallbackPhase | null;
  /** 0 to 0.9; never higher, because it is a guess. */
  confidence: number;
}

/** `NAMED_FALLBACK_PATTERNS` are the four patterns of document 000, under its names. */
export const NAMED_FALLBACK_PATTERNS = {
  analysis_complete: /(?:analysis|exploration)\s+(?:complete|done|finished)/i,
  tasks_ready: /(?:task\s+list|breakdown)\s+(?:ready|complete|created)/i,
  worker_done: /(?:task|work)\s+(?:complete|done|finished)/i,
  worker_error: /(?:error|failed|could\s+not)/i,
} as const;

/** `FALLBACK_PATTERNS` of document 004 for each phase, together with those of document 000. */
export const FALLBACK_PATTERNS: Record<FallbackPhase, readonly RegExp[]> = {
  analysis: [
    /analysis\s+(?:is\s+)?(?:complete|done|finished)/i,
    /(?:found|identified)\s+\d+\s+(?:components?|modules?|files?)/i,
    /recommend(?:ing|s?)\s+\d+\s+(?:tasks?|splits?)/i,
    NAMED_FALLBACK_PATTERNS.analysis_complete,
  ],
  task_list: [
    /(?:task|breakdown)\s+list\s+(?:is\s+)?(?:ready|complete|created)/i,
    /created?\s+\d+\s+tasks?/i,
    NAMED_FALLBACK_PATTERNS.tasks_ready,
  ],
  progress: [
    /\d{1,3}\s*%\s+(?:complete|done|finished)/i,
    /(?:currently|now)\s+(?:working|processing|reading|writing)/i,
    /(?:processed|finished)\s+\d+\s+(?:of|out of)\s+\d+/i,
  ],
  completion: [
    /task\s+(?:is\s+|has been\s+)?(?:successfully\s+)?(?:completed?|done|finished)/i,
    /(?:successfully|all)\s+(?:completed|implemented|created|finished)/i,
    NAMED_FALLBACK_PATTERNS.worker_done,
  ],
  error: [
    /(?:unable|failed)\s+to\s/i,
    /(?:encountered|ran into)\s+an?\s+(?:error|problem)/i,
    NAMED_FALLBACK_PATTERNS.worker_error,
  ],
};

const EXAMINED_CHARACTERS = 20_000;

/** Returns the phase with the most matching patterns; on a tie, the first of them. */
export function detectFallback(text: string): FallbackDetection {
  const examined =
    text.length > 2 * EXAMINED_CHARACTERS
      ? `${text.slice(0, EXAMINED_CHARACTERS)}\n${text.slice(-EXAMINED_CHARACTERS)}`
      : text;
  let best: { phase: FallbackPhase; matches: number; patterns: number } | null = null;
  for (const phase of FALLBACK_PHASES) {
    const patterns = FALLBACK_PATTERNS[phase];
    const matches = patterns.filter((pattern) => pattern.test(examined)).length;
    if (matches > (best?.matches ?? 0)) best = { phase, matches, patterns: patterns.length };
  }
  if (best === null) return { detected: false, probablePhase: null, confidence: 0 };
  const confidence = Math.min(0.9, (best.matches / best.patterns) * 0.9 + 0.1);
  return { detected: true, probablePhase: best.phase, confidence };
}
