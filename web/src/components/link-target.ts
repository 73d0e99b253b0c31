/** Where a link in a stranger's text leads: a host, or a mailbox; undefined where it leads nowhere. */
export function readTarget(to: unknown): string | undefined {
  if (typeof to !== 'string') return undefined
  const url = URL.parse(to, globalThis.location?.href)
  return url?.host || url?.pathname || undefined
}

/** What stands behind a scheme; or a bare host or mailbox, whose last label has letters; or an IPv4 address. The path after it is no name. */
const NAMES =
  /[a-z][a-z0-9+.-]*:\/+([^\s/?#]+)\S*|((?:[^\s@/]+@)?(?:(?:[\p{L}\p{N}_-]+\.)+\p{L}[\p{L}\p{N}-]+|\d+(?:\.\d+){3})(?::\d+)?)(?:[/?#]\S*)?/gu

/**
 * Whether the text of a link leaves unsaid where it leads: it names no place, or another one than its target. It is read as its reader sees it: signs that take no room are left
 * out, and dots and letters that have several shapes have one. What is then not letter for letter the target is another place, so
 * that no letter of another script passes for a Latin one.
 */
export function hidesTarget(text: string, target: string): boolean {
  const seen = text
    .normalize('NFKC')
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .replaceAll('。', '.')
    .toLowerCase()
  const named = [...seen.matchAll(NAMES)].map(([, withScheme, bare]) =>
    normalizeName(withScheme ?? bare ?? ''),
  )
  return named.length === 0 || named.some((place) => place !== normalizeName(target))
}

const normalizeName = (name: string) =>
  name
    .toLowerCase()
    .replace(/^www\./, '')
    .replace(/[^\p{L}\p{N}\]]+$/u, '')
