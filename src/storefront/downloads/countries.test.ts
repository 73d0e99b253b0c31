import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { pino } from 'pino'
import { openCountries } from './countries.ts'

const log = pino({ level: 'silent' })

test('the country comes from the file; unknown and malformed addresses have none', (t) => {
  const countryOf = openCountries(databaseOf(t, 'NL'), log)
  assert.equal(countryOf('127.0.0.1'), 'NL')
  assert.equal(countryOf('10.1.2.3'), 'NL')
  assert.equal(countryOf('192.0.2.1'), null)
  assert.equal(countryOf('not an address'), null)
})

test('without a file, every address has no country', () => {
  assert.equal(openCountries(null, log)('127.0.0.1'), null)
})

test('a file that is missing or no database stops the start, naming the setting', (t) => {
  assert.throws(() => openCountries('/nowhere/geo.mmdb', log), /GEOIP_DB/)
  const junk = join(temporary(t), 'junk.mmdb')
  writeFileSync(junk, 'no database')
  assert.throws(() => openCountries(junk, log), /GEOIP_DB/)
})

/**
 * The smallest MaxMind database: one node, addresses whose first bit is 0 are in `country`. Format:
 * MaxMind DB 2.0.
 */
function databaseOf(t: TestContext, country: string): string {
  const data = map({ country: map({ iso_code: text(country) }) })
  const nodes = 1
  const tree = Buffer.alloc(6)
  tree.writeUIntBE(nodes + 16, 0, 3)
  tree.writeUIntBE(nodes, 3, 3)
  const metadata = map({
    binary_format_major_version: uint16(2),
    binary_format_minor_version: uint16(0),
    build_epoch: uint16(1),
    database_type: text('Test-Country'),
    description: map({ en: text('test') }),
    ip_version: uint16(4),
    languages: Buffer.from([0x00, 0x04]),
    node_count: uint16(nodes),
    record_size: uint16(24),
  })
  const path = join(temporary(t), 'geo.mmdb')
  const marker = Buffer.from('abcdef4d61784d696e642e636f6d', 'hex')
  writeFileSync(path, Buffer.concat([tree, Buffer.alloc(16), data, marker, metadata]))
  return path
}

function text(value: string): Buffer {
  return Buffer.concat([Buffer.from([0x40 | value.length]), Buffer.from(value)])
}

function uint16(value: number): Buffer {
  return Buffer.from([0xa2, value >> 8, value & 255])
}

function map(entries: Record<string, Buffer>): Buffer {
  const pairs = Object.entries(entries).flatMap(([key, value]) => [text(key), value])
  return Buffer.concat([Buffer.from([0xe0 | Object.keys(entries).length]), ...pairs])
}

function temporary(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'geo-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
