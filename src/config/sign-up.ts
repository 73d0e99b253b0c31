/** Settings that decide who may sign up. */
import { readFileSync } from 'node:fs'
import { ConfigError, type Reader } from './reader.ts'

export type SignUpConfig = {
  /** True when only invited people can register. */
  invitedOnly: boolean
  /** The only accepted domains; empty: all. `*.example.com` accepts its subdomains. */
  allowed: readonly string[]
  /** Rejected domains, including their subdomains. */
  denied: ReadonlySet<string>
  /**
   * When a registration requires a proof of work: `auto` after several from one network, `always`,
   * or never.
   */
  proof: 'auto' | 'always' | 'off'
}

const SHIPPED = new URL('./disposable-domains.txt', import.meta.url)
/** `localhost` may be allowed; a denied domain needs a dot, because `!word` is mostly a misspelt list. */
const DOMAIN =
  /^((\*\.)?([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)*|!([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+)[a-z0-9]([a-z0-9-]*[a-z0-9])?$/
const DISPOSABLE = '!disposable'

export function readSignUp(read: Reader): SignUpConfig {
  const words = read.words('SIGNUP_DOMAINS')
  const lists = words.filter((word) => word === DISPOSABLE || word.startsWith('!/'))
  const domains = words.filter((word) => !lists.includes(word)).map((word) => word.toLowerCase())
  const wrong = domains.find((word) => !DOMAIN.test(word))
  if (wrong !== undefined)
    throw new ConfigError(
      `SIGNUP_DOMAINS is wrong: expected domains, as example.com or !example.com, or ${DISPOSABLE}, got '${wrong}'`,
    )
  return {
    invitedOnly: read.oneOf('SIGNUP', ['open', 'invited'], 'open') === 'invited',
    allowed: domains.filter((word) => !word.startsWith('!')),
    denied: new Set([
      ...domains.filter((word) => word.startsWith('!')).map((word) => word.slice(1)),
      ...lists.flatMap((word) => readList(word.slice(1))),
    ]),
    proof: read.oneOf('SIGNUP_PROOF', ['auto', 'always', 'off'], 'auto'),
  }
}

/** @throws ConfigError when the file cannot be read */
function readList(list: string): string[] {
  try {
    return parseDomains(readFileSync(list === 'disposable' ? SHIPPED : list, 'utf8'))
  } catch (error) {
    throw new ConfigError(`SIGNUP_DOMAINS: !${list} cannot be read: ${(error as Error).message}`)
  }
}

/** Parses one domain per line. Lines that begin with # are comments. */
function parseDomains(list: string): string[] {
  const lines = list.split('\n').map((line) => line.trim().toLowerCase())
  return lines.filter((line) => line !== '' && !line.startsWith('#'))
}
