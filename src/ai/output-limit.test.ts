// How long an answer may be, by the caller's limit, the plan's and the model's.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { limitOutputTokens, type ModelLengths } from './output-limit.ts'

const KNOWN: ModelLengths = {
  promptMax: 200_000,
  answerMax: 64_000,
  limitMax: 64_000,
  isAnswerMaxKnown: true,
}
const UNKNOWN: ModelLengths = {
  promptMax: Number.POSITIVE_INFINITY,
  answerMax: 32_000,
  limitMax: 128_000,
  isAnswerMaxKnown: false,
}

type Row = [
  title: string,
  requested: number | null,
  planMax: number | null,
  lengths: ModelLengths,
  limit: number | null,
  reserved: number,
  reservedMin: number,
]

const ROWS: Row[] = [
  ['sends no limit where neither caller nor plan has one', null, null, KNOWN, null, 64_000, 4_096],
  ['sends the limit of the caller', 1_000, null, KNOWN, 1_000, 1_000, 1_000],
  ['lowers the limit of the caller to the plan', 1_000, 500, KNOWN, 500, 500, 500],
  ['lowers the limit of the caller to the model', 90_000, null, KNOWN, 64_000, 64_000, 64_000],
  ['sends no plan limit that the model cannot exceed', null, 64_000, KNOWN, null, 64_000, 4_096],
  ['sends a plan limit that the model could exceed', null, 8_000, KNOWN, 8_000, 8_000, 8_000],
  ['sends every plan limit to an unknown model', null, 64_000, UNKNOWN, 64_000, 64_000, 64_000],
  ['caps the limit for an unknown model', 500_000, null, UNKNOWN, 128_000, 128_000, 128_000],
]

for (const [title, requested, planMax, lengths, limit, reserved, reservedMin] of ROWS) {
  test(title, () =>
    assert.deepEqual(limitOutputTokens(requested, planMax, lengths), {
      limit,
      reserved,
      reservedMin,
    }),
  )
}
