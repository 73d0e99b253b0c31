import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildSlices, type PaidLine, selectRelevantSlices } from './paid-slices.ts'

const JAN = '2027-01-15T09:30:00.000Z'
const FEB = '2027-02-15T09:30:00.000Z'
const MAR = '2027-03-15T09:30:00.000Z'
const NEXT_YEAR = '2028-01-15T09:30:00.000Z'
/** Half of the first month: 15.5 of 31 days. */
const HALF = '2027-01-30T21:30:00.000Z'

const line = (line: Partial<PaidLine>): PaidLine => ({
  paidAt: line.start ?? JAN,
  subscriptionId: 'sub',
  tier: 'pro',
  cents: 2_900,
  start: JAN,
  end: FEB,
  isProration: false,
  isKept: true,
  ...line,
})
const change = (tier: string, cents: number, more: Partial<PaidLine> = {}) =>
  line({ tier, cents, start: HALF, isProration: true, ...more })
const shares = (...lines: PaidLine[]) =>
  buildSlices(lines).map((slice) => [slice.start.slice(0, 10), slice.shares])

test('a month is one slice and a year twelve, from the billing day on', () => {
  assert.deepEqual(buildSlices([line({})]), [{ start: JAN, end: FEB, shares: { pro: 1 } }])
  const year = buildSlices([line({ end: NEXT_YEAR, cents: 29_000 })])
  assert.deepEqual([year.length, year[0]?.end, year[11]?.end], [12, FEB, NEXT_YEAR])
  const last = buildSlices([
    line({ start: '2027-01-31T00:00:00.000Z', end: '2028-01-31T00:00:00.000Z' }),
  ])
  assert.deepEqual(
    [last[1]?.start, last[2]?.start],
    ['2027-02-28T00:00:00.000Z', '2027-03-31T00:00:00.000Z'],
  )
  // The month from the last day of February to the last day of March is one slice, too.
  assert.equal(
    buildSlices([line({ start: '2027-02-28T00:00:00.000Z', end: '2027-03-31T00:00:00.000Z' })])
      .length,
    1,
  )
})

test('a trial is one slice, however long it lasts', () => {
  const [trial, ...more] = buildSlices([line({ cents: 0, end: '2027-04-15T09:30:00.000Z' })])
  assert.deepEqual([trial?.isTrial, trial?.shares, more.length], [true, { pro: 1 }, 0])
})

test('lines of one second share a slice, and a paid month replaces a trial', () => {
  const paid = line({ subscriptionId: 'other', tier: 'enterprise', cents: 9_900 })
  assert.deepEqual(shares(line({}), paid), [['2027-01-15', { pro: 1, enterprise: 1 }]])
  const [slice] = buildSlices([line({ cents: 0, end: HALF }), paid])
  assert.deepEqual(slice, { start: JAN, end: FEB, shares: { enterprise: 1 } })
})

test('an upgrade adds the difference for the rest of its slice; switching back and forth adds nothing', () => {
  const up = [change('pro', -1_450), change('enterprise', 4_950)]
  assert.deepEqual(shares(line({}), ...up), [['2027-01-15', { pro: 0.5, enterprise: 0.5 }]])
  const down = [change('enterprise', -4_950), change('pro', 1_450)]
  assert.deepEqual(shares(line({}), ...up, ...down, ...up, ...down), [
    ['2027-01-15', { pro: 1, enterprise: 0 }],
  ])
  assert.deepEqual(shares(line({}), ...up, ...down, ...up), [
    ['2027-01-15', { pro: 0.5, enterprise: 0.5 }],
  ])
})

test('an upgrade of a yearly plan changes the slices ahead', () => {
  const year = { end: NEXT_YEAR, cents: 29_000 }
  const up = [
    change('pro', -28_000, { end: NEXT_YEAR }),
    change('enterprise', 95_000, { end: NEXT_YEAR }),
  ]
  const [first, second] = buildSlices([line(year), ...up])
  assert.deepEqual(
    [first?.shares, second?.shares],
    [
      { pro: 0.5, enterprise: 0.5 },
      { pro: 0, enterprise: 1 },
    ],
  )
})

test('a later purchase replaces the remaining slices of an earlier one, and credits reduce them', () => {
  const year = line({ start: HALF, end: '2028-01-30T21:30:00.000Z', cents: 29_000 })
  const slices = buildSlices([line({}), change('pro', -1_450), year])
  assert.deepEqual(
    [slices.length, slices[0]?.shares, slices[0]?.isReduced],
    [13, { pro: 0.5 }, true],
  )
  const monthly = line({ subscriptionId: 'other', start: HALF, end: '2027-02-28T21:30:00.000Z' })
  const replaced = buildSlices([line({ end: NEXT_YEAR, cents: 29_000 }), monthly])
  assert.deepEqual(
    replaced.map(({ start }) => start),
    [JAN, HALF],
  )
})

test('a purchase that is paid late counts the use of the slices that began meanwhile', () => {
  const [BOUGHT, PAID] = ['2027-02-14T09:30:00.000Z', '2027-02-17T09:30:00.000Z']
  const year = { end: NEXT_YEAR, cents: 29_000 }
  const debit = { subscriptionId: 'debit', start: BOUGHT, paidAt: PAID }
  const summarize = (...lines: PaidLine[]) =>
    buildSlices(lines).map(({ start, isReduced, isReplaced }) => [start, isReduced, isReplaced])
  assert.deepEqual(
    summarize(
      line(year),
      change('pro', -26_000, { start: PAID, end: NEXT_YEAR }),
      line({ ...debit, end: MAR }),
    ),
    [
      [JAN, undefined, undefined],
      [BOUGHT, undefined, undefined],
      [FEB, true, true],
    ],
  )
  const bought = summarize(
    line({}),
    line({ start: FEB, end: MAR }),
    change('pro', -2_500, { start: PAID, end: MAR }),
    line({ ...debit, ...year, end: '2028-02-14T09:30:00.000Z' }),
  )
  assert.deepEqual(
    [bought.length, bought[1], bought[2], bought[3]?.[0]],
    [14, [BOUGHT, undefined, undefined], [FEB, true, true], '2027-03-14T09:30:00.000Z'],
    'a renewal of the earlier plan does not replace the year',
  )
})

test('a reversed payment buys nothing', () => {
  const [slice] = buildSlices([line({ isKept: false })])
  assert.deepEqual([slice?.shares, slice?.isReduced], [{}, true])
  const up = [
    change('pro', -1_450, { isKept: false }),
    change('enterprise', 4_950, { isKept: false }),
  ]
  assert.deepEqual(shares(line({}), ...up), [['2027-01-15', { pro: 1 }]])
})

test('a credit in the second of the purchase reduces its slice, and so does a reversed upgrade', () => {
  const year = { end: NEXT_YEAR, cents: 99_000, tier: 'enterprise' }
  const [first] = buildSlices([
    line(year),
    change('enterprise', -99_000, { start: JAN, end: NEXT_YEAR }),
    line({}),
  ])
  assert.deepEqual([first?.shares, first?.isReduced], [{ pro: 1, enterprise: 0 }, true])
  const [upgraded] = buildSlices([
    line({}),
    change('pro', -1_450, { isKept: false }),
    change('enterprise', 4_950, { isKept: false }),
  ])
  assert.deepEqual([upgraded?.shares, upgraded?.isReduced], [{ pro: 1 }, true])
})

test('selects the slices that can be spent or overused', () => {
  const months = [
    line({}),
    line({ start: FEB, end: MAR }),
    line({ start: MAR, end: '2027-04-15T09:30:00.000Z' }),
  ]
  const starts = (lines: PaidLine[]) =>
    selectRelevantSlices(buildSlices(lines), '2027-02-20T00:00:00.000Z').map((one) => one.start)
  assert.deepEqual(starts(months), [FEB, MAR])
  assert.deepEqual(starts([line({ isKept: false }), ...months.slice(1)]), [JAN, FEB, MAR])
})
