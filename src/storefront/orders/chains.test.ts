import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ChainLink, deriveStatuses } from './chains.ts'

const AT = '2026-01-01T00:00:00.000Z'
const REFUNDED = { is_refunded: true, dispute: null }

function link(id: string, from_id: string | null, facts: Partial<ChainLink> = {}): ChainLink {
  const dates = { withdrawn_at: null, revoked_at: null }
  const payment = { is_refunded: false, dispute: null }
  return { id, from_id, ...dates, download_count: 0, max_downloads: 5, payment, ...facts }
}

const CASES: [title: string, chain: ChainLink[], statuses: string][] = [
  ['a paid purchase is completed', [link('a', null)], 'completed'],
  [
    'a purchase without a known payment is completed',
    [link('a', null, { payment: undefined })],
    'completed',
  ],
  ['used up downloads expire it', [link('a', null, { download_count: 5 })], 'expired'],
  [
    'an open dispute holds it',
    [link('a', null, { payment: { is_refunded: false, dispute: 'open' } })],
    'disputed',
  ],
  [
    'a lost dispute ends it',
    [link('a', null, { payment: { is_refunded: false, dispute: 'lost' } })],
    'refunded',
  ],
  [
    'a won dispute changes nothing',
    [link('a', null, { payment: { is_refunded: false, dispute: 'won' } })],
    'completed',
  ],
  [
    'a refund goes before a revocation',
    [link('a', null, { payment: REFUNDED, revoked_at: AT })],
    'refunded',
  ],
  [
    'a withdrawal goes before its refund',
    [link('a', null, { payment: REFUNDED, withdrawn_at: AT })],
    'withdrawn',
  ],
  ['an upgrade replaces its origin', [link('a', null), link('b', 'a')], 'upgraded completed'],
  [
    'a refunded upgrade gives the origin back',
    [link('a', null), link('b', 'a', { payment: REFUNDED })],
    'completed refunded',
  ],
  [
    'a withdrawn renewal gives the origin back',
    [link('a', null), link('b', 'a', { withdrawn_at: AT })],
    'completed withdrawn',
  ],
  [
    'a revoked upgrade does not give the origin back',
    [link('a', null), link('b', 'a', { revoked_at: AT })],
    'upgraded revoked',
  ],
  [
    'a refunded origin ends its upgrades',
    [link('a', null, { payment: REFUNDED }), link('b', 'a'), link('c', 'b')],
    'refunded refunded refunded',
  ],
  [
    'a disputed origin holds its upgrade',
    [link('a', null, { payment: { is_refunded: false, dispute: 'open' } }), link('b', 'a')],
    'upgraded disputed',
  ],
  [
    'the last of three is current',
    [link('a', null), link('b', 'a'), link('c', 'b', { payment: REFUNDED })],
    'upgraded completed refunded',
  ],
]

for (const [title, chain, statuses] of CASES) {
  test(title, () => {
    assert.equal([...deriveStatuses(chain).values()].join(' '), statuses)
    // The order of the rows does not matter.
    const reversed = deriveStatuses(chain.toReversed())
    assert.equal(chain.map(({ id }) => reversed.get(id)).join(' '), statuses)
  })
}
