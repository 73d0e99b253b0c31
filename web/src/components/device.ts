import { t } from '../language/text.ts'

// Edge and Opera call themselves Chrome too, and Chrome calls itself Safari, so the order matters.
const BROWSERS: [RegExp, string][] = [
  [/Edg\//, 'Edge'],
  [/OPR\//, 'Opera'],
  [/Firefox\//, 'Firefox'],
  [/Chrome\//, 'Chrome'],
  [/Safari\//, 'Safari'],
]
const SYSTEMS: [RegExp, string][] = [
  [/Android/, 'Android'],
  [/iPhone|iPad/, 'iOS'],
  [/Windows/, 'Windows'],
  [/Mac OS X/, 'macOS'],
  [/Linux/, 'Linux'],
]

/** Returns `Firefox on Linux` from a User-Agent header, or the start of an unknown header. */
export function describeDevice(userAgent: string | null): string {
  if (!userAgent) return t('Unknown device')
  const browser = BROWSERS.find(([pattern]) => pattern.test(userAgent))?.[1]
  const system = SYSTEMS.find(([pattern]) => pattern.test(userAgent))?.[1]
  if (!browser) return userAgent.slice(0, 60)
  return system ? t('{0} on {1}', browser, system) : browser
}
