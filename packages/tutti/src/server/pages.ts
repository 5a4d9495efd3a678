import { createHash } from "node:crypto";
import { SECURITY_HEADERS } from "./headers.ts";

const STYLE = `
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
body { display: grid; place-items: center; min-height: 90vh; margin: 16px;
  background: light-dark(#f6f7f9, #0e1116); color: light-dark(#181b21, #e7eaef); }
main { display: grid; gap: 12px; width: min(440px, 100%); padding: 24px; border-radius: 8px;
  border: 1px solid light-dark(#e3e6eb, #272e39); background: light-dark(#fff, #151a21); }
h1, p { margin: 0; } h1 { font-size: 20px; }
form { display: grid; gap: 8px; }
input, button { font: inherit; height: 40px; padding: 0 12px; border-radius: 6px;
  border: 1px solid light-dark(#8b93a1, #5b6675); background: transparent; color: inherit; }
button { border: 0; background: #4b52c9; color: #fff; font-weight: 600; cursor: pointer; }
code { font-family: ui-monospace, monospace; }
[role="alert"] { color: light-dark(#b8232f, #ff8f8f); }
`;

const page = (title: string, content: string, language = "en"): string => `<!doctype html>
<html lang="${language}">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${title}</title><style>${STYLE}</style></head>
<body><main><h1>${title}</h1>${content}</main></body>
</html>
`;

/** `SIGN_IN_POLICY` allows the inline style and the form of the server's own pages, and nothing else. */
export const SIGN_IN_POLICY = SECURITY_HEADERS["Content-Security-Policy"]!.replace(
  "form-action 'none'",
  "form-action 'self'",
).concat(`; style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'`);

const SIGN_IN = {
  en: {
    title: "Sign in to Tutti",
    wrong: "This token is wrong, expired or revoked.",
    advice:
      "Open the URL that <code>tutti serve</code> printed when it started, run <code>tutti open</code>, or enter a token.",
    token: "Token",
    button: "Sign in",
  },
  fr: {
    title: "Se connecter à Tutti",
    wrong: "Ce jeton est faux, expiré ou révoqué.",
    advice:
      "Ouvrez l'URL que <code>tutti serve</code> a affichée au démarrage, lancez <code>tutti open</code>, ou saisissez un jeton.",
    token: "Jeton",
    button: "Se connecter",
  },
} as const;

type PageLanguage = keyof typeof SIGN_IN;

/** The first language of an `Accept-Language` header that the pages have, as the dashboard chooses its own. */
export function pageLanguage(accepted = ""): PageLanguage {
  const wanted = accepted.split(",").map((each) => each.trim().slice(0, 2).toLowerCase());
  return wanted.find((each): each is PageLanguage => Object.hasOwn(SIGN_IN, each)) ?? "en";
}

/** `wasWrong` means that the address had a token that does not exist, or no longer. */
export function signInPage(wasWrong: boolean, language: PageLanguage): string {
  const { title, wrong, advice, token, button } = SIGN_IN[language];
  return page(
    title,
    `${wasWrong ? `<p role="alert">${wrong}</p>` : ""}
<p>${advice}</p>
<form method="get" action="/">
<label for="token">${token}</label>
<input id="token" name="token" type="password" autocomplete="off" required autofocus>
<button type="submit">${button}</button>
</form>`,
    language,
  );
}

export const NOT_BUILT_PAGE = page(
  "Tutti",
  "<p>The server is running, but the dashboard is not built. The API is under /api.</p>",
);
