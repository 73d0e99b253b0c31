import { BlockList, isIP } from 'node:net'

/**
 * Returns the key that limits count an address by: the IPv4 address itself, or the /64 of an IPv6
 * address, because one customer has a whole /64. IPv4 in IPv6 (`::ffff:192.0.2.1`) counts as the
 * IPv4 address.
 */
export function addressKey(ip: string): string {
  const plain = plainAddress(ip)
  if (!plain.includes(':')) return plain
  return `${expand(plain).slice(0, 4).join(':')}::/64`
}

/**
 * Returns the network that sign-ins are counted by: the /24 of an IPv4 address, because one owner
 * often has several addresses of it; the /64 of an IPv6 address.
 */
export function networkKey(ip: string): string {
  const plain = plainAddress(ip)
  return plain.includes(':') ? addressKey(plain) : `${plain.split('.').slice(0, 3).join('.')}.0/24`
}

/** Returns the address without its zone, and IPv4 in IPv6 as IPv4. */
export function plainAddress(ip: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(ip)
  return mapped?.[1] ?? ip.split('%')[0] ?? ip
}

/**
 * Returns true for a network such as `10.0.0.0/8` or `2001:db8::/32`, or one address. IPv4 in IPv6
 * must be written as IPv4.
 */
export function isNetwork(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/')
  const version = isIP(address)
  if (
    version === 0 ||
    rest.length > 0 ||
    address.includes('%') ||
    /^::(ffff:)?(0:)?\d+\./i.test(address)
  )
    return false
  return (
    bits === undefined ||
    (/^(0|[1-9]\d{0,2})$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128))
  )
}

/** Returns true when one of `networks` (in the format of `isNetwork`) contains the address. */
export function isInNetworks(networks: readonly string[], ip: string): boolean {
  const address = plainAddress(ip)
  const version = isIP(address) as 0 | 4 | 6
  return (
    version !== 0 && compileLists(networks)[FAMILIES[version]].check(address, FAMILIES[version])
  )
}

const FAMILIES = { 4: 'ipv4', 6: 'ipv6' } as const

/** Cached by the list object: a key's list is checked on every call. */
const lists = new WeakMap<readonly string[], Lists>()

/** One list per family. In a common list, `::/0` would contain every IPv4 address too. */
type Lists = Readonly<Record<'ipv4' | 'ipv6', BlockList>>

function compileLists(networks: readonly string[]): Lists {
  const known = lists.get(networks)
  if (known !== undefined) return known
  const made: Lists = { ipv4: new BlockList(), ipv6: new BlockList() }
  for (const network of networks) {
    const [address = '', bits] = network.split('/')
    const family = isIP(address) === 4 ? 'ipv4' : 'ipv6'
    if (bits === undefined) made[family].addAddress(address, family)
    else made[family].addSubnet(address, Number(bits), family)
  }
  lists.set(networks, made)
  return made
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
