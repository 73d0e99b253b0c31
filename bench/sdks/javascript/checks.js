// Shared by the JavaScript walks: the service's address, and a printed line per check. Plain
// JavaScript, because these packages are not installed when the project is checked.
import { readFileSync } from 'node:fs'
import { z } from 'zod'

export const { LATCHKEY_URL: URL_ = '', LATCHKEY_KEY: KEY = '' } = process.env
export const WRONG_KEY = 'lk_wrong'
export const HELLO = 'Hello'
export const ASKED = 'What is the weather in Vienna?'
export const WEATHER = 'sunny, 21 degrees'
export const WEATHER_SCHEMA = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
}
export const City = z.object({ name: z.string(), inhabitants: z.number() })

const MODELS = (process.env.LATCHKEY_MODELS ?? '').split(' ')
const EMBEDDERS = JSON.parse(process.env.LATCHKEY_EMBEDDERS ?? '{}')

export async function walk(name, checks, embeddings = null) {
  const manifest = new URL(`node_modules/${name}/package.json`, import.meta.url)
  console.log(JSON.stringify({ version: JSON.parse(readFileSync(manifest, 'utf8')).version }))
  for (const model of MODELS) {
    for (const [check, work] of Object.entries(checks))
      await runCheck(model, check, () => work(model))
    if (embeddings !== null && model in EMBEDDERS)
      await runCheck(model, 'embeddings', () => embeddings(EMBEDDERS[model]))
  }
}

async function runCheck(model, check, work) {
  try {
    await work()
    console.log(JSON.stringify({ model, check, ok: true }))
  } catch (error) {
    console.log(JSON.stringify({ model, check, ok: false, told: String(error) }))
  }
}

export function must(fact, detail) {
  if (!fact) throw new Error(`check failed: ${JSON.stringify(detail)}`)
}

/** Compares class names, because the classes of one error differ between packages. */
export async function refused(work, status, name) {
  const error = await work().then(
    () => null,
    (reason) => reason,
  )
  if (error === null) throw new Error('the call was not rejected')
  const errorStatus = error.status ?? error.statusCode
  must(errorStatus === status && (name === undefined || error.constructor.name === name), [
    error.constructor.name,
    errorStatus,
  ])
}
