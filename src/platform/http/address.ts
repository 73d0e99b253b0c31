/**
 * What limits count an address by: an IPv4 address itself, an IPv6 address by its /64, since one customer holds a whole /64.
 * IPv4 in IPv6 (`::ffff:192.0.2.1`) counts as the IPv4 address.
 */
export function addressKey(ip: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(ip)
  if (mapped?.[1]) return mapped[1]
  if (!ip.includes(':')) return ip
  return `${expand(ip.split('%')[0] ?? ip)
    .slice(0, 4)
    .join(':')}::/64`
}

/** The eight groups of an IPv6 address, without leading zeros. */
function expand(ip: string): string[] {
  const [head = '', tail] = ip.split('::')
  const left = head.split(':').filter((group) => group !== '')
  const right = (tail ?? '').split(':').filter((group) => group !== '')
  const missing = tail === undefined ? 0 : Math.max(0, 8 - left.length - right.length)
  return [...left, ...Array<string>(missing).fill('0'), ...right].map((group) =>
    group.toLowerCase().replace(/^0+(?=.)/, ''),
  )
}
