/** An id as the vendors' APIs write theirs: a prefix that tells what it names, and 32 digits. */
export function newId(prefix: string): string {
  return prefix + crypto.randomUUID().replaceAll('-', '')
}
