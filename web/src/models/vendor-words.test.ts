import assert from 'node:assert/strict'
import test from 'node:test'
import type { OperatorVendor } from '../api/types.ts'
import { describeVendorFailure, describeVendorState } from './vendor-words.ts'

const VENDOR: OperatorVendor = {
  name: 'openai',
  label: 'OpenAI',
  state: 'live',
  key_setting: 'OPENAI_API_KEY',
  endpoints: [
    { name: 'openai#1', circuit: 'closed' },
    { name: 'openai#2', circuit: 'closed' },
  ],
  limited_models: [],
  last_failure: null,
  calls: 0,
  failed: 0,
  cost_usd: 0,
}
const withCircuits = (...circuits: OperatorVendor['endpoints'][number]['circuit'][]) => ({
  ...VENDOR,
  endpoints: circuits.map((circuit, index) => ({ name: `openai#${index + 1}`, circuit })),
})

test('a vendor’s state is its switch, then its circuits and limits, then whether the sandbox plays it', () => {
  const off = { kind: 'vendor', subject: 'openai', email: null, reason: '', set_at: '' } as const
  const cases: [OperatorVendor, string[]][] = [
    [VENDOR, ['Working']],
    [{ ...VENDOR, state: 'sandbox' }, ['Sandbox']],
    [withCircuits('open', 'open'), ['Circuit open']],
    [withCircuits('open', 'closed'), ['1 of 2 circuits open']],
    [withCircuits('half-open', 'closed'), ['Recovering']],
    [{ ...VENDOR, limited_models: ['gpt-6-luna'] }, ['Rate limited']],
    [{ ...withCircuits('open'), limited_models: ['gpt-6-luna'] }, ['Circuit open', 'Rate limited']],
  ]
  for (const [vendor, labels] of cases)
    assert.deepEqual(
      describeVendorState(vendor, [{ ...off, subject: 'groq' }]).map(({ label }) => label),
      labels,
    )
  assert.deepEqual(describeVendorState(withCircuits('open'), [off]), [
    { label: 'Switched off', color: 'red' },
  ])
})

test('a failure of a newer version shows its own word', () => {
  assert.equal(describeVendorFailure('unauthorized'), 'API key rejected')
  assert.equal(describeVendorFailure('tired'), 'tired')
})
