/**
 * Embeds a few questions and texts with the configured embedder, and prints its `similarity` for
 * MODELS. Reads no documents of users and records nothing; the operator pays the vendor.
 */
import { readFileSync } from 'node:fs'
import { computeCost } from '#ai/cost.ts'
import { tokensOfBytes } from '#ai/estimate.ts'
import { openVendors } from '#ai/gateway.ts'
import { findModel, getVendor } from '#models/catalogue.ts'
import { calibrate, type Pair } from '#rag/calibration.ts'
import { pairs as ownPairs } from '#rag/calibration-pairs.ts'
import { createEmbedder } from '#rag/vendor-embedder.ts'
import { createLiveSwitches } from '#switches/live.ts'
import type { Context } from '../context.ts'

/** With fewer pairs, one unusual pair would decide the result. */
const PAIRS_MIN = 10
const PAIRS_MAX = 1_000
const PATIENCE_MS = 120_000
/** A lower share means that the pairs, or the model, are unsuitable. */
const SEPARATED_MIN = 0.9

export async function calibrateEmbedder(
  { config, platform, print }: Context,
  { file, isTrial }: { file: string | null; isTrial: boolean },
): Promise<number> {
  const pairs = file === null ? ownPairs : readPairs(file)
  const { db, bus, log, clock, tracer } = await platform()
  const switches = createLiveSwitches({ db, bus, log })
  await switches.reload()
  const vendors = openVendors({ config, clock, log, tracer }, switches)
  const embedder = createEmbedder(vendors, config.embedder, 'bytes')
  if (embedder === null) {
    print('EMBEDDER is local: it compares words, and its score needs no calibration.')
    return 1
  }
  const { vendor, model } = embedder
  const tokens = tokensOfBytes(
    Buffer.byteLength(pairs.map(({ question, text }) => question + text).join('')),
  )
  const usage = { prompt: tokens, completion: 0, cached: 0, cacheWrites: 0 }
  const { usd } = computeCost(config.ai, vendor, [model], usage, 'embedding')
  print(
    `${pairs.length} pairs: ${2 * pairs.length} texts go to ${vendor}/${model}, at most ${tokens} tokens, $${usd.toFixed(6)}`,
  )
  if (isTrial) return 0

  const { unrelated, answers, answersKept, othersDropped } = await calibrate(
    embedder,
    pairs,
    AbortSignal.timeout(PATIENCE_MS),
  )
  const percent = (share: number) => `${Math.round(100 * share)} %`
  const similarity = { unrelated: rounded(unrelated), answers: rounded(answers) }
  print(`unrelated ${similarity.unrelated}, answers ${similarity.answers}`)
  print(
    `With these values, searches keep ${percent(answersKept)} of the answers and drop ${percent(othersDropped)} of the nearest other texts.`,
  )
  if (
    similarity.unrelated >= similarity.answers ||
    Math.min(answersKept, othersDropped) < SEPARATED_MIN
  ) {
    print(
      'The model does not separate answers from other texts. Check that it embeds questions and texts, that its `tasks` are set, and that the pairs have different subjects.',
    )
    return 1
  }
  // Meant to replace an existing entry of the operator: other tasks would require embedding all
  // documents again.
  const tasks = findModel(getVendor(config.ai.vendors, vendor), model)?.embedding?.tasks
  print('Add this to MODELS, at this vendor. Keep the other fields of an existing entry:')
  print(
    `  ${JSON.stringify({ id: model, kind: 'embedding', ...(tasks && { tasks }), similarity })}`,
  )
  return 0
}

/** Reads one pair per line: {"question": "…", "text": "…"}. @throws Error that names the line */
function readPairs(file: string): Pair[] {
  const lines = readFileSync(file, 'utf8').split('\n')
  const pairs = lines.flatMap((line, i) =>
    line.trim() === '' ? [] : [parsePair(line, `${file}:${i + 1}`)],
  )
  if (pairs.length < PAIRS_MIN || pairs.length > PAIRS_MAX)
    throw new Error(`${file} has ${pairs.length} pairs: ${PAIRS_MIN} to ${PAIRS_MAX} are needed`)
  return pairs
}

function parsePair(line: string, at: string): Pair {
  let pair: unknown
  try {
    pair = JSON.parse(line)
  } catch {
    pair = null
  }
  const { question, text } = (pair ?? {}) as Record<string, unknown>
  const isText = (one: unknown): one is string => typeof one === 'string' && one.trim() !== ''
  if (!isText(question) || !isText(text))
    throw new Error(`${at}: expected {"question": "…", "text": "…"}`)
  return { question, text }
}

function rounded(cosine: number): number {
  return Math.round(1_000 * cosine) / 1_000
}
