/** Settings that decide who may sign up. */
import { readFileSync } from 'node:fs'
import { ConfigError, type Reader } from './reader.ts'

export type SignUpConfig = {
  /** Only whom a superuser has invited. */
  invitedOnly: boolean
  /** Domains that alone are taken; empty: all. `*.example.com` stands for those below it. */
  allowed: readonly string[]
  /** Domains that are refused, and all below them. */
  denied: readonly string[]
  /** Domains of addresses that are thrown away, refused with all below them: the shipped list, the operator's own, or none. */
  disposable: ReadonlySet<string>
  /** When a registration has to carry a proof of work: after some from one network, always, never. */
  proof: 'auto' | 'always' | 'off'
}

const SHIPPED = new URL('./disposable-domains.txt', import.meta.url)
const DOMAIN = /^(\*\.)?([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)*[a-z0-9]([a-z0-9-]*[a-z0-9])?$/

export function readSignUp(read: Reader): SignUpConfig {
  const domains = (name: string) => {
    const words = read.words(name).map((word) => word.toLowerCase())
    const wrong = words.find((word) => !DOMAIN.test(word))
    if (wrong !== undefined)
      throw new ConfigError(`${name} is wrong: expected domains, as example.com, got '${wrong}'`)
    return words
  }
  return {
    invitedOnly: read.oneOf('SIGNUP', ['open', 'invited'], 'open') === 'invited',
    allowed: domains('SIGNUP_ALLOWED_DOMAINS'),
    denied: domains('SIGNUP_DENIED_DOMAINS'),
    disposable: readDisposable(read.text('DISPOSABLE_DOMAINS', 'allow')),
    proof: read.oneOf('SIGNUP_PROOF', ['auto', 'always', 'off'], 'auto'),
  }
}

function readDisposable(value: string): ReadonlySet<string> {
  if (value === 'allow') return new Set()
  try {
    return domainsIn(readFileSync(value === 'refuse' ? SHIPPED : value, 'utf8'))
  } catch (error) {
    throw new ConfigError(
      `DISPOSABLE_DOMAINS is neither allow nor refuse, and no list that can be read: ${(error as Error).message}`,
    )
  }
}

/** A domain a line; lines that begin with # say something else. */
function domainsIn(list: string): ReadonlySet<string> {
  const lines = list.split('\n').map((line) => line.trim().toLowerCase())
  return new Set(lines.filter((line) => line !== '' && !line.startsWith('#')))
}
