/** Settings that decide who may sign up. */
import { readFileSync } from 'node:fs'
import { ConfigError, type Reader } from './reader.ts'

export type SignUpConfig = {
  /** True when only invited people can register. */
  invitedOnly: boolean
  /** The only accepted domains; empty: all. `*.example.com` accepts its subdomains. */
  allowed: readonly string[]
  /** Rejected domains, including their subdomains. */
  denied: readonly string[]
  /**
   * Rejected domains of disposable addresses, including their subdomains: the shipped list, the
   * operator's own, or none.
   */
  disposable: ReadonlySet<string>
  /**
   * When a registration requires a proof of work: `auto` after several from one network, `always`,
   * or never.
   */
  proof: 'auto' | 'always' | 'off'
}

const SHIPPED = new URL('./disposable-domains.txt', import.meta.url)
const DOMAIN = /^(!|\*\.)?([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)*[a-z0-9]([a-z0-9-]*[a-z0-9])?$/

export function readSignUp(read: Reader): SignUpConfig {
  const domains = read.words('SIGNUP_DOMAINS').map((word) => word.toLowerCase())
  const wrong = domains.find((word) => !DOMAIN.test(word))
  if (wrong !== undefined)
    throw new ConfigError(
      `SIGNUP_DOMAINS is wrong: expected domains, as example.com or !example.com, got '${wrong}'`,
    )
  return {
    invitedOnly: read.oneOf('SIGNUP', ['open', 'invited'], 'open') === 'invited',
    allowed: domains.filter((word) => !word.startsWith('!')),
    denied: domains.filter((word) => word.startsWith('!')).map((word) => word.slice(1)),
    disposable: readDisposable(read.text('DISPOSABLE_DOMAINS', 'allow')),
    proof: read.oneOf('SIGNUP_PROOF', ['auto', 'always', 'off'], 'auto'),
  }
}

function readDisposable(value: string): ReadonlySet<string> {
  if (value === 'allow') return new Set()
  try {
    return parseDomains(readFileSync(value === 'refuse' ? SHIPPED : value, 'utf8'))
  } catch (error) {
    throw new ConfigError(
      `DISPOSABLE_DOMAINS is neither allow nor refuse, and no list that can be read: ${(error as Error).message}`,
    )
  }
}

/** Parses one domain per line. Lines that begin with # are comments. */
function parseDomains(list: string): ReadonlySet<string> {
  const lines = list.split('\n').map((line) => line.trim().toLowerCase())
  return new Set(lines.filter((line) => line !== '' && !line.startsWith('#')))
}
