import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiKey } from '../api/types.ts'
import {
  buildKeySettings,
  describeLimits,
  diffKeySettings,
  NEW_KEY,
  readKeyForm,
} from './key-settings.ts'

const NOW = Date.parse('2030-03-04T10:00:00Z')
const BARE: ApiKey = {
  id: 'k',
  name: 'laptop',
  key_prefix: 'lk_abc',
  is_active: true,
  created_at: '2030-01-01T00:00:00.000Z',
  last_used_at: null,
  expires_at: null,
}
const CONFINED: ApiKey = {
  ...BARE,
  expires_at: '2031-01-01T00:00:00.000Z',
  scopes: ['ai', 'rag:read'],
  models: ['gpt-*', 'fast', 'groq/*'],
  addresses: ['10.0.0.0/8', '::1'],
  budget: { limit_usd: 5, period: 'week' },
  monthly_token_limit: 1_000_000,
  rate_limit: { requests: 10, seconds: 90 },
}

test('a new key expires after a year by default, and has no other limit', () => {
  const {
    name,
    expires_at: end,
    ...limits
  } = buildKeySettings({ ...NEW_KEY, name: ' laptop ' }, NOW)
  assert.equal(end, '2031-03-04T10:00:00.000Z')
  assert.equal(buildKeySettings({ ...NEW_KEY, days: '0' }, NOW).expires_at, null)
  assert.equal(name, 'laptop')
  assert.ok(Object.values(limits).every((value) => value === null))
  assert.equal(
    buildKeySettings({ ...NEW_KEY, days: '7' }, NOW).expires_at,
    '2030-03-11T10:00:00.000Z',
  )
})

test('an unchanged form changes nothing', () => {
  for (const key of [BARE, CONFINED])
    assert.deepEqual(diffKeySettings(key, readKeyForm(key), NOW), {})
})

test('emptied fields remove their limits, and only changed settings are sent', () => {
  const form = readKeyForm(CONFINED)
  assert.deepEqual(
    diffKeySettings(CONFINED, { ...form, limitUsd: '', models: [], days: '0' }, NOW),
    {
      budget: null,
      models: null,
      expires_at: null,
    },
  )
  assert.deepEqual(
    diffKeySettings(BARE, { ...readKeyForm(BARE), limitUsd: 2, period: 'day' }, NOW),
    {
      budget: { limit_usd: 2, period: 'day' },
    },
  )
})

test('the list shows a short label for each limit', () => {
  assert.deepEqual(describeLimits(BARE), [])
  assert.deepEqual(describeLimits(CONFINED), [
    '$5 per week',
    '1M tokens per month',
    '10 calls in 90 s',
    'Models and Documents (read only)',
    '3 models',
    '2 networks',
  ])
})
