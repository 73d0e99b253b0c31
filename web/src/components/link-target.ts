/** Returns the host or mailbox that a link leads to; undefined for other values. */
export function readTarget(to: unknown): string | undefined {
  if (typeof to !== 'string') return undefined
  const url = URL.parse(to, globalThis.location?.href)
  return url?.host || url?.pathname || undefined
}

/** Matches a host after a scheme, a bare host or mailbox, or an IPv4 address, without the path. */
const NAMES =
  /[a-z][a-z0-9+.-]*:\/+([^\s/?#]+)\S*|((?:[^\s@/]+@)?(?:(?:[\p{L}\p{N}_-]+\.)+\p{L}[\p{L}\p{N}-]+|\d+(?:\.\d+){3})(?::\d+)?)(?:[/?#]\S*)?/gu

/**
 * Returns whether a link's text hides its target: it names no host, or another one. The comparison
 * ignores invisible characters and normalizes letters, so that lookalikes of other scripts count
 * as another host.
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
