/** A name for something on a page. `crypto.randomUUID` is missing on plain http, as on a network of one's own. */
export function newId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('')
}
