import { readFileSync } from 'node:fs'
import { type CountryResponse, Reader } from 'maxmind'
import type { Log } from '#platform/telemetry/log.ts'

/** Looks a client's country up in the mmdb file of GEOIP_DB; null without one and for addresses it does not know. */
export function openCountries(path: string | null, log: Log): (address: string) => string | null {
  if (path === null) return () => null
  const reader = new Reader<CountryResponse>(readFileSync(path))
  return (address) => {
    try {
      return reader.get(address)?.country?.iso_code ?? null
    } catch (error) {
      log.warn({ err: error }, 'a country could not be looked up')
      return null
    }
  }
}
