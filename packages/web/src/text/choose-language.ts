import { language, LANGUAGE_KEY, setCatalogue, type Catalogue, type Language } from "./language.ts";
import french from "./french.json?url";

/** Resolves when `translate` has the texts of the language. */
export async function loadLanguage(): Promise<void> {
  document.documentElement.lang = language;
  if (language === "en") return;
  try {
    const response = await fetch(french);
    if (response.ok) setCatalogue((await response.json()) as Catalogue);
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
