/** Returns an id in the vendors' form: a prefix and 32 digits. */
export function newId(prefix: string): string {
  return prefix + crypto.randomUUID().replaceAll('-', '')
}
