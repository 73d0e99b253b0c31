import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  currencyName,
  decimalsMax,
  formatMoney,
  inMinorUnits,
  inUnits,
  isCurrency,
} from './money.ts'

test('an amount is counted as the processor counts, and shown as people write it', () => {
  const table: [number, string, minor: number, decimals: number, shown: string, short: string][] = [
    [149.5, 'eur', 14_950, 2, '€149.50', '€149.50'],
    [199, 'usd', 19_900, 2, '$199.00', '$199'],
    [60_000, 'jpy', 60_000, 0, '¥60,000', '¥60,000'],
    [5.12, 'kwd', 5_120, 2, 'KWD\u00a05.120', 'KWD\u00a05.120'],
    [500, 'isk', 50_000, 0, 'ISK\u00a0500', 'ISK\u00a0500'],
    [500, 'mga', 500, 0, 'MGA\u00a0500', 'MGA\u00a0500'],
  ]
  for (const [amount, currency, minor, decimals, shown, short] of table) {
    assert.equal(inMinorUnits(amount, currency), minor, currency)
    assert.equal(inUnits(minor, currency), amount, currency)
    assert.equal(decimalsMax(currency), decimals, currency)
    assert.equal(formatMoney(amount, currency), shown)
    assert.equal(formatMoney(amount, currency, { short: true }), short)
  }
  assert.equal(inMinorUnits(19.99, 'usd'), 1_999, 'a float is no trap')
})

test('a currency has a name, and an unknown one is reported', () => {
  assert.deepEqual(
    ['usd', 'eur', 'jpy'].map((code) => currencyName(code)),
    ['US dollars', 'euros', 'Japanese yen'],
  )
  assert.deepEqual(['usd', 'EUR', 'zzq', 'us'].map(isCurrency), [true, true, false, false])
})
