// Writes `docs/conformance.md`: the matrix, run against the whole service.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { testApp } from '../app.ts'
import { CASES } from './cases.ts'
import type { DoorName } from './door.ts'
import { DOORS, type Outcome, runMatrix } from './matrix.ts'
import { startStrictVendors, vendorSettings } from './strict-vendors.ts'
import { buildTable } from './table.ts'

export const CONFORMANCE_FILE = join(import.meta.dirname, '../../../docs/conformance.md')
/** Many cells wait, for retries or for a client to leave. */
const AT_ONCE = 24

export const DOOR_NAMES = Object.keys(DOORS) as DoorName[]

export async function playMatrix(t: Pick<TestContext, 'after'>): Promise<Outcome[]> {
  const vendors = await startStrictVendors()
  t.after(() => vendors.close())
  const app = await testApp(t, { env: vendorSettings(vendors.url) })
  const ada = await app.as('ada', { tier: 'pro' })
  const { key } = (await ada.post('/api/api-keys', { name: 'client' })).body
  const gateway = { url: app.url, headers: () => ({ authorization: `Bearer ${key}` }) }
  return runMatrix(vendors, gateway, CASES, { doors: DOOR_NAMES, atOnce: AT_ONCE })
}

export function buildPage(outcomes: readonly Outcome[]): string {
  return `# Compatibility

Each case runs at each API of the gateway, on models of OpenAI, Anthropic and Gemini: a cell has one sign per vendor, in
this order. The vendors are strict mocks ([src/testing/conformance](../src/testing/conformance)) with the rejections of
the real ones. [cases.ts](../src/testing/conformance/cases.ts) defines the expected results.

✔ right · ○ rejected clearly, because the vendor lacks the feature or rejects it itself · ✘ wrong · – the API cannot
express it

<!-- operator -->
\`npm run bench -- conformance\` runs the same cases against other gateways.
<!-- /operator -->

${buildTable(outcomes, CASES, DOOR_NAMES)}
`
}

if (import.meta.main) void write()

async function write(): Promise<void> {
  const endings: (() => unknown)[] = []
  const outcomes = await playMatrix({
    after: (ending: () => unknown) => endings.push(ending),
  } as never)
  writeFileSync(CONFORMANCE_FILE, buildPage(outcomes))
  for (const ending of endings) await ending()
  process.exit()
}
