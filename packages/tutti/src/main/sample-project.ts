// `SAMPLE_PROJECT` is small, complete, and has packages that depend on each other.

export const SAMPLE_PROJECT: Readonly<Record<string, string>> = {
  "package.json": `{
  "name": "corner-bookshop",
  "version": "1.0.0",
  "description": "The till of a small bookshop: a catalog, prices with discounts, orders and receipts.",
  "type": "module",
  "private": true,
  "workspaces": ["packages/*"],
  "scripts": { "start": "node packages/till/src/main.js", "test": "node --test" }
}
`,
  "packages/catalog/package.json": `{ "name": "@bookshop/catalog", "version": "1.0.0", "type": "module", "description": "The shop's books and how to find them.", "exports": "./src/books.js" }
`,
  "packages/pricing/package.json": `{ "name": "@bookshop/pricing", "version": "1.0.0", "type": "module", "description": "Prices, discounts and how to show them.", "exports": "./src/discounts.js" }
`,
  "packages/orders/package.json": `{ "name": "@bookshop/orders", "version": "1.0.0", "type": "module", "description": "What a customer wants to buy, and what it costs.", "exports": "./src/order.js", "dependencies": { "@bookshop/pricing": "1.0.0" } }
`,
  "packages/till/package.json": `{ "name": "@bookshop/till", "version": "1.0.0", "type": "module", "description": "The till itself: sells books and prints receipts.", "exports": "./src/receipt.js", "dependencies": { "@bookshop/catalog": "1.0.0", "@bookshop/orders": "1.0.0", "@bookshop/pricing": "1.0.0" } }
`,
  "README.md": `# Corner Bookshop

The till of a small bookshop. It knows the books, works out prices, takes orders and prints receipts.
`,
  "packages/catalog/src/books.js": `/**
 * The shop's books and how to find them.
 */

/** @typedef {{ isbn: string, title: string, author: string, cents: number, tags: string[] }} Book */

/**
 * A catalog that never holds two books with one ISBN.
 */
export class Catalog {
  #books = new Map();

  /**
   * Adds a book.
   * @param {Book} book
   * @throws if the ISBN is taken
   */
  add(book) {
    if (this.#books.has(book.isbn)) throw new Error(\`\${book.isbn} is in the catalog already\`);
    this.#books.set(book.isbn, book);
    return this;
  }

  /** The book with this ISBN, or null. */
  find(isbn) {
    return this.#books.get(isbn) ?? null;
  }

  /** All books whose title, author or tags hold the words, best match first. */
  search(words) {
    return rank([...this.#books.values()], words);
  }
}

/** Orders books by how many of the words they match, and drops those that match none. */
export function rank(books, words) {
  const wanted = words.toLowerCase().split(/\\s+/);
  const score = (book) => {
    const text = [book.title, book.author, ...book.tags].join(" ").toLowerCase();
    return wanted.filter((word) => text.includes(word)).length;
  };
  return books.filter((book) => score(book) > 0).sort((a, b) => score(b) - score(a));
}
`,
  "packages/catalog/src/isbn.js": `/** Whether the thirteen digits carry a correct check digit. */
export function isIsbn(text) {
  const digits = text.replaceAll("-", "");
  if (!/^\\d{13}$/.test(digits)) return false;
  const sum = [...digits].reduce((total, digit, i) => total + Number(digit) * (i % 2 === 0 ? 1 : 3), 0);
  return sum % 10 === 0;
}
`,
  "packages/pricing/src/discounts.js": `/** Ten percent off from five books on. */
export const BULK = { from: 5, percent: 10 };

/**
 * What a line of an order costs, in cents, after all discounts.
 * @param {number} cents the price of one book
 * @param {number} count how many
 */
export function linePrice(cents, count) {
  const full = cents * count;
  return count >= BULK.from ? Math.round(full * (1 - BULK.percent / 100)) : full;
}

/** Cents as people read them: \`formatPrice(1250)\` is \`12.50\`. */
export function formatPrice(cents) {
  return (cents / 100).toFixed(2);
}
`,
  "packages/orders/src/order.js": `import { linePrice } from "@bookshop/pricing";

/**
 * One customer's order: lines of books and counts.
 */
export class Order {
  lines = [];

  /** @param {import("@bookshop/catalog").Catalog} catalog where the books come from */
  constructor(catalog) {
    this.catalog = catalog;
  }

  /** Puts \`count\` copies of a book on the order; an unknown ISBN is refused. */
  put(isbn, count = 1) {
    const book = this.catalog.find(isbn);
    if (!book) throw new Error(\`no book has the ISBN \${isbn}\`);
    this.lines.push({ book, count });
    return this;
  }

  /** The sum of all lines in cents. */
  total() {
    return this.lines.reduce((sum, { book, count }) => sum + linePrice(book.cents, count), 0);
  }
}
`,
  "packages/till/src/receipt.js": `import { formatPrice, linePrice } from "@bookshop/pricing";

/** The receipt of an order, one line per book and the total below. */
export function receipt(order) {
  const lines = order.lines.map(({ book, count }) => \`\${count} x \${book.title}  \${formatPrice(linePrice(book.cents, count))}\`);
  return [...lines, \`total  \${formatPrice(order.total())}\`].join("\\n");
}
`,
  "packages/till/src/main.js": `// The till itself: sells two books and prints the receipt.
import { Catalog } from "@bookshop/catalog";
import { Order } from "@bookshop/orders";
import { receipt } from "./receipt.js";

const catalog = new Catalog()
  .add({ isbn: "9780141439518", title: "Pride and Prejudice", author: "Jane Austen", cents: 899, tags: ["novel", "classic"] })
  .add({ isbn: "9780140449136", title: "Crime and Punishment", author: "Fyodor Dostoevsky", cents: 1099, tags: ["novel", "classic"] });

console.log(receipt(new Order(catalog).put("9780141439518").put("9780140449136", 5)));
`,
  "packages/orders/test/order.test.js": `import assert from "node:assert";
import { test } from "node:test";
import { Catalog } from "@bookshop/catalog";
import { Order } from "@bookshop/orders";

const catalog = new Catalog().add({ isbn: "9780141439518", title: "Pride and Prejudice", author: "Jane Austen", cents: 900, tags: [] });

test("an order of five has the bulk discount", () => {
  assert.equal(new Order(catalog).put("9780141439518", 5).total(), 4050);
});
`,
};
