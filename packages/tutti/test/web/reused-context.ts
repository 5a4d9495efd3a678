// The browser context that the tests of a file reuse, one after another. The process of its pages has compiled the scripts
// of the dashboard and its cache has the assets, so a page costs half as much as in a new context.
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";

export class ReusedContext {
  /** The port of the last server. The cache holds only if the next server has the same one. */
  port = 0;
  readonly #browser: Browser;
  readonly #options: BrowserContextOptions;
  #context: BrowserContext | null = null;
  /** A page without scripts that keeps the process of the closed pages. */
  #anchor: Page | null = null;

  constructor(browser: Browser, options: BrowserContextOptions) {
    this.#browser = browser;
    this.#options = options;
  }

  /** Returns the context without pages, cookies and storage of the test before. */
  async next(url: string): Promise<BrowserContext> {
    if (this.#context === null || !(await this.#isClean())) {
      await this.#context?.close();
      this.#context = await this.#browser.newContext(this.#options);
      this.#anchor = await this.#context.newPage();
    }
    // Storage belongs to an origin, and each new page has its own `sessionStorage`.
    await this.#anchor!.goto(`${url}/favicon.svg`);
    await this.#anchor!.evaluate("localStorage.clear()");
    await this.#context.clearCookies();
    return this.#context;
  }

  /** A clock that a test installed stays in its context. */
  #isClean(): Promise<boolean> {
    return this.#anchor!.evaluate("/native code/.test(String(Date))");
  }

  async closePages(): Promise<void> {
    const pages = this.#context?.pages() ?? [];
    await Promise.all(pages.filter((page) => page !== this.#anchor).map((page) => page.close()));
  }

  has(context: BrowserContext): boolean {
    return context === this.#context;
  }

  /** The next test gets a new context, because a failed test may have left this one offline. */
  async drop(): Promise<void> {
    await this.#context?.close();
    this.#context = null;
  }
}
