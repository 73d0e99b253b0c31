import assert from 'node:assert/strict'
import { test } from 'node:test'
import { writeEvidence } from './evidence.ts'

const AT = '2026-11-26T23:22:05.000Z'
const ORDER: Parameters<typeof writeEvidence>[0] = {
  id: 'order-1',
  user_id: 'ada',
  email: 'ada@example.com',
  tier: 'pro',
  status: 'disputed',
  amount_cents: 29_900,
  tax_cents: 0,
  refunded_cents: 0,
  fee_cents: null,
  fee_currency: null,
  currency: 'usd',
  payment_ref: 'pi_1',
  from_id: null,
  download_count: 1,
  max_downloads: 5,
  activations_limit: null,
  entitled_until: null,
  created_at: AT,
  license_key_masked: 'LK-…',
  bundle_id: null,
  members: [],
  waiver: { version: '2026-01', at: AT },
  withdrawn_at: null,
  revoked_at: null,
  chain: [],
  refunds: [],
  disputes: [],
  downloads: [
    {
      id: 'd',
      tier: 'pro',
      version: '1.1.0',
      ip_address: '192.0.2.7',
      user_agent: 'Mozilla/5.0 (X11; Linux x86_64) Firefox/130.0',
      country: 'DE',
      downloaded_at: '2026-11-27T08:00:00.000Z',
    },
  ],
  machines: [
    {
      id: 'm',
      name: 'Ada’s laptop',
      platform: 'macos',
      version: '1.1.0',
      activated_at: AT,
      last_seen_at: AT,
    },
  ],
  changes: [],
}

const nameTier = (tier: string) => `Name of ${tier}`

test('the evidence says what was delivered when, to which address', () => {
  assert.equal(
    writeEvidence(ORDER, nameTier),
    `Order order-1: Name of pro, $299.00, paid 2026-11-26 23:22 UTC
Payment pi_1
Buyer: ada@example.com
The buyer agreed to immediate delivery 2026-11-26 23:22 UTC (text of 2026-01).

Delivered to the buyer’s account:
- 2026-11-27 08:00 UTC: version 1.1.0 to 192.0.2.7 (DE), Firefox on Linux

The license is active on:
- Ada’s laptop (macos), activated 2026-11-26 23:22 UTC, last used 2026-11-26 23:22 UTC`,
  )
})

test('the evidence of a bundle names the delivered product', () => {
  const downloads = ORDER.downloads.map((download) => ({ ...download, tier: 'kit' }))
  const text = writeEvidence({ ...ORDER, downloads }, nameTier)
  assert.match(text, /08:00 UTC: Name of kit, version 1.1.0 to 192.0.2.7/)
})

test('missing evidence has no headings', () => {
  const order = { ...ORDER, email: null, waiver: null, downloads: [], machines: [] }
  assert.equal(
    writeEvidence(order, nameTier),
    `Order order-1: Name of pro, $299.00, paid 2026-11-26 23:22 UTC
Payment pi_1
Buyer: the account was deleted`,
  )
})
