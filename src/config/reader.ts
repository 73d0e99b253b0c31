/**
 * Reads single settings. A wrong value throws an error that names the setting; nothing falls back
 * silently. `NAME_FILE` reads a secret from a file.
 */
import { readFileSync } from 'node:fs'

export class ConfigError extends Error {}

export type Env = Readonly<Record<string, string | undefined>>

/** A limit of `requests` per `seconds`; null switches it off. */
export type Rate = { requests: number; seconds: number } | null

export class Reader {
  readonly #env: Env

  constructor(env: Env) {
    this.#env = env
  }

  optional(name: string): string | null {
    const value = this.#env[name]?.trim()
    if (value) return value
    const file = SECRET_NAME.test(name) ? this.#env[`${name}_FILE`]?.trim() : undefined
    return file ? readSecretFile(`${name}_FILE`, file) : null
  }

  positive(name: string, fallback: number): number {
    const value = this.optional(name)
    if (value === null) return fallback
    return /^\d+$/.test(value) && Number(value) > 0 && Number.isSafeInteger(Number(value))
      ? Number(value)
      : this.#fail(name, 'a whole number above 0')
  }

  words(name: string): string[] {
    return (this.optional(name) ?? '')
      .split(',')
      .map((word) => word.trim())
      .filter((word) => word !== '')
  }

  /** Reads named numbers such as `a=1,b=2`. Omitted names have their fallback. */
  numbers<const K extends string>(
    name: string,
    family: Record<K, { fallback: number; min: number }>,
  ): Record<K, number> {
    const known = Object.keys(family) as K[]
    const numbers = Object.fromEntries(known.map((key) => [key, family[key].fallback])) as Record<
      K,
      number
    >
    for (const word of this.words(name)) {
      const [, key, digits] = /^([a-z]+)\s*=\s*(\d{1,6})$/.exec(word) ?? []
      const found = known.find((other) => other === key)
      if (found === undefined)
        return this.#fail(name, `name=number for some of ${known.join(', ')}, separated by commas`)
      if (Number(digits) < family[found].min)
        return this.#fail(name, `at least ${family[found].min} for ${found}`)
      numbers[found] = Number(digits)
    }
    return numbers
  }

  text(name: string, fallback: string): string {
    return this.optional(name) ?? fallback
  }

  count(name: string): number | null {
    return this.optional(name) === null ? null : this.positive(name, 0)
  }

  days(name: string, fallback: number): number {
    const value = this.optional(name)
    if (value === null) return fallback
    return /^\d{1,3}$/.test(value)
      ? Number(value)
      : this.#fail(name, 'a number of days from 0 to 999')
  }

  port(name: string, fallback: number): number {
    const value = this.optional(name)
    if (value === null) return fallback
    return /^\d+$/.test(value) && Number(value) <= 65_535
      ? Number(value)
      : this.#fail(name, 'a port from 0 to 65535')
  }

  seconds(name: string, fallback: number): number {
    const value = this.optional(name)
    if (value === null) return fallback
    return /^\d{1,4}$/.test(value) ? Number(value) : this.#fail(name, 'seconds, from 0 to 9999')
  }

  flag(name: string, fallback: boolean): boolean {
    const value = this.optional(name)?.toLowerCase()
    if (value === undefined) return fallback
    if (['true', '1', 'yes', 'on'].includes(value)) return true
    return ['false', '0', 'no', 'off'].includes(value) ? false : this.#fail(name, 'true or false')
  }

  oneOf<const T extends string>(name: string, choices: readonly T[], fallback: NoInfer<T>): T {
    const value = this.optional(name)
    if (value === null) return fallback
    return (
      choices.find((choice) => choice === value) ?? this.#fail(name, `one of ${choices.join(', ')}`)
    )
  }

  list<const T extends string>(
    name: string,
    choices: readonly T[],
    fallback: readonly NoInfer<T>[],
  ): readonly T[] {
    const value = this.words(name)
    if (value.length === 0) return fallback
    return value.map(
      (word) =>
        choices.find((choice) => choice === word) ??
        this.#fail(name, `some of ${choices.join(',')}`),
    )
  }

  allows(what: 'vendor_objects' | 'vendor_traces'): boolean {
    return this.list('ALLOW', ['vendor_objects', 'vendor_traces'], []).includes(what)
  }

  matching(name: string, pattern: RegExp, expected: string, fallback: string): string {
    const value = this.optional(name) ?? fallback
    return pattern.test(value) ? value : this.#fail(name, expected)
  }

  url(name: string, protocols: readonly string[]): string | null {
    const value = this.optional(name)
    if (value === null) return null
    const parsed = URL.parse(value)
    if (parsed === null || !protocols.includes(parsed.protocol))
      return this.#fail(name, `an address starting with ${protocols.join('// or ')}//`)
    return trimSlash(value)
  }

  rate(name: string, fallback: string): Rate {
    const value = this.optional(name) ?? fallback
    if (value.toLowerCase() === 'off') return null
    const match = /^([1-9]\d{0,8})\/([1-9]\d{0,5})$/.exec(value)
    return match
      ? { requests: Number(match[1]), seconds: Number(match[2]) }
      : this.#fail(name, "requests/seconds, like 100/60, or 'off'")
  }

  #fail(name: string, expected: string): never {
    const value = this.#env[name]
    throw new ConfigError(
      `${name} is wrong: expected ${expected}, got '${value === undefined || isSecret(name, value) ? '…' : value}'`,
    )
  }
}

/** Settings that may come from a file (`NAME_FILE`), as orchestrators provide secrets. */
const SECRET_NAME = /KEY|SECRET|PASSWORD|TOKEN|^(DATABASE|REDIS|SMTP)_URL$|_OTLP_HEADERS$/

function readSecretFile(setting: string, path: string): string | null {
  try {
    return readFileSync(path, 'utf8').trim() || null
  } catch (error) {
    throw new ConfigError(`${setting} cannot be read: ${(error as Error).message}`)
  }
}

/** Returns true for secrets. A URL counts as one only when it may contain a password. */
const isSecret = (name: string, value: string) =>
  /KEY|SECRET|PASSWORD|TOKEN/.test(name) || (/URL|ENDPOINT/.test(name) && /[@?]/.test(value))

export const trimSlash = (url: string) => url.replace(/\/+$/, '')
