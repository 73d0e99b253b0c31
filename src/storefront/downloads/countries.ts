import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { type CountryResponse, Reader } from 'maxmind'
import type { Log } from '#platform/telemetry/log.ts'

/**
 * Finds a client's country in the mmdb file of GEOIP_DB; null without one and for unknown
 * addresses. @throws Error for the operator when the file cannot be read
 */
export function openCountries(path: string | null, log: Log): (address: string) => string | null {
  if (path === null) return () => null
  const reader = openReader(path)
  return (address) => {
    // The library accepts any text as an address.
    if (isIP(address) === 0) return null
    try {
      return reader.get(address)?.country?.iso_code ?? null
    } catch (error) {
      log.warn({ err: error }, 'a country could not be looked up')
      return null
    }
  }
}

function openReader(path: string): Reader<CountryResponse> {
  try {
    return new Reader<CountryResponse>(readFileSync(path))
  } catch (error) {
    throw new Error(`GEOIP_DB cannot be read: ${(error as Error).message}`, { cause: error })
  }
}
