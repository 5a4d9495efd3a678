/** `escapeLength` is 0 if the JSON escape at `at` is not valid. */
export function escapeLength(text: string, at: number): number {
  switch (text.charCodeAt(at + 1)) {
    case 34:
    case 92:
    case 47:
    case 98:
    case 102:
    case 110:
    case 114:
    case 116:
      return 2;
    case 117:
      return isHex(text, at + 2, at + 6) ? 6 : 0;
    default:
      return 0;
  }
}

/** The index after the quote that closes the JSON string at `start`, or the end of the text. */
export function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === '"') return at + 1;
  }
  return text.length;
}

export function isHex(text: string, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const code = text.charCodeAt(at);
    const digit = (code >= 48 && code <= 57) || (code >= 65 && code <= 70) || (code >= 97 && code <= 102);
    if (!digit) return false;
  }
  return true;
}

export function escapedControl(code: number): string {
  return JSON.stringify(String.fromCharCode(code)).slice(1, -1);
}
