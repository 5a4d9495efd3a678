import { language, LANGUAGE_KEY, setCatalogue, type Catalogue, type Language } from "./language.ts";
import french from "./french.json?url";

/** Resolves when `translate` has the texts of the language. */
export async function loadLanguage(): Promise<void> {
  document.documentElement.lang = language;
  if (language === "en") return;
  try {
    const [response, { sentenceReader }] = await Promise.all([fetch(french), import("./sentence-reader.ts")]);
    if (!response.ok) return;
    const texts = (await response.json()) as Catalogue;
    setCatalogue(texts, sentenceReader(texts));
  } catch {
    // Without the server the page stays English, and `live` reports that the server does not respond.
  }
}

/** Many texts are constants, so `location.reload` loads the page again. */
export function chooseLanguage(choice: Language): void {
  try {
    localStorage.setItem(LANGUAGE_KEY, choice);
  } catch {
    // Without `localStorage` the language of the browser stays.
  }
  location.reload();
}
