import { chooseLanguage } from "../text/choose-language.ts";
import { language } from "../text/language.ts";

/** `label` is in the language that it leads to, for users who cannot read the other one. */
const OTHER =
  language === "en"
    ? ({ language: "fr", word: "FR", label: "Afficher en français" } as const)
    : ({ language: "en", word: "EN", label: "Show in English" } as const);

export function LanguageToggle() {
  return (
    <button
      type="button"
      className="button-icon language-toggle"
      lang={OTHER.language}
      aria-label={`${OTHER.word}: ${OTHER.label}`}
      title={OTHER.label}
      onClick={() => chooseLanguage(OTHER.language)}
    >
      {OTHER.word}
    </button>
  );
}
