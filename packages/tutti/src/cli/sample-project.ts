// The project that `tutti demo` documents: small, complete, and with parts that use each other.

export const SAMPLE_PROJECT: Readonly<Record<string, string>> = {
  "package.json": `{
  "name": "corner-bookshop",
  "version": "1.0.0",
  "description": "The till of a small bookshop: a catalog, prices with discounts, orders and receipts.",
  "type": "module",
  "scripts": { "start": "node src/till/main.js", "test": "node --test" }
}
`,
  "README.md": `# Corner Bookshop

The till of a small bookshop. It knows the books, works out prices, takes orders and prints receipts.
`,
  "src/catalog/books.js": `/**
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
  "src/catalog/isbn.js": `/** Whether the thirteen digits carry a correct check digit. */
export function isIsbn(text) {
  const digits = text.replaceAll("-", "");
  if (!/^\\d{13}$/.test(digits)) return false;
  const sum = [...digits].reduce((total, digit, i) => total + Number(digit) * (i % 2 === 0 ? 1 : 3), 0);
  return sum % 10 === 0;
}
`,
  "src/pricing/discounts.js": `/** Ten percent off from five books on. */
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
  "src/orders/order.js": `import { linePrice } from "../pricing/discounts.js";

/**
 * One customer's order: lines of books and counts.
 */
export class Order {
  lines = [];

  /** @param {import("../catalog/books.js").Catalog} catalog where the books come from */
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
  "src/till/receipt.js": `import { formatPrice, linePrice } from "../pricing/discounts.js";

/** The receipt of an order, one line per book and the total below. */
export function receipt(order) {
  const lines = order.lines.map(({ book, count }) => \`\${count} x \${book.title}  \${formatPrice(linePrice(book.cents, count))}\`);
  return [...lines, \`total  \${formatPrice(order.total())}\`].join("\\n");
}
`,
  "src/till/main.js": `// The till itself: sells two books and prints the receipt.
import { Catalog } from "../catalog/books.js";
import { Order } from "../orders/order.js";
import { receipt } from "./receipt.js";

const catalog = new Catalog()
  .add({ isbn: "9780141439518", title: "Pride and Prejudice", author: "Jane Austen", cents: 899, tags: ["novel", "classic"] })
  .add({ isbn: "9780140449136", title: "Crime and Punishment", author: "Fyodor Dostoevsky", cents: 1099, tags: ["novel", "classic"] });

console.log(receipt(new Order(catalog).put("9780141439518").put("9780140449136", 5)));
`,
  "test/order.test.js": `import assert from "node:assert";
import { test } from "node:test";
import { Catalog } from "../src/catalog/books.js";
import { Order } from "../src/orders/order.js";

const catalog = new Catalog().add({ isbn: "9780141439518", title: "Pride and Prejudice", author: "Jane Austen", cents: 900, tags: [] });

test("an order of five has the bulk discount", () => {
  assert.equal(new Order(catalog).put("9780141439518", 5).total(), 4050);
});
`,
};
