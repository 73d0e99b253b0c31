// Proof of work (ALTCHA, PBKDF2/SHA-256): a client computes for some seconds before a request that
// could otherwise be repeated without limit. A challenge works once, within ten minutes, and for
// one purpose. It slows attackers down; it does not prove that a human is present.
import { createChallenge, randomInt, verifySolution } from 'altcha-lib'
import { deriveKey } from 'altcha-lib/algorithms/pbkdf2'
import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { MINUTE_MS } from '#platform/clock.ts'
import type { Platform } from '#platform/platform.ts'
import type { Problem } from '#platform/problem.ts'
import { identityProblem } from '../problems.ts'

export type ProofDeps = Pick<Platform, 'clock' | 'limiter' | 'secrets'>

/** A proof as clients send it: base64 of the JSON of `{challenge, solution}`. */
export const Proof = Type.String({
  maxLength: 4_096,
  description: 'The solved `challenge` of a `proof_required`',
})

const LIFE_MS = 10 * MINUTE_MS
/** PBKDF2 iterations per step: about 0.3 ms of a core, so that creating a challenge is cheap. */
const COST = 1_000
/** The number of steps: a second or two in a browser. */
const COUNTER = { min: 1_500, max: 3_000 }

const Solved = Compile(
  Type.Object({
    challenge: Type.Object({
      parameters: Type.Object({
        algorithm: Type.String(),
        nonce: Type.String(),
        salt: Type.String(),
        cost: Type.Integer(),
        keyLength: Type.Integer(),
        keyPrefix: Type.String(),
        keySignature: Type.String(),
        expiresAt: Type.Integer(),
        data: Type.Object({ for: Type.String() }),
      }),
      signature: Type.String(),
    }),
    solution: Type.Object({ counter: Type.Integer(), derivedKey: Type.String() }),
  }),
)

/**
 * Requires a proof that was made for `purpose` and not used before. @param factor Multiplies the
 * difficulty of a new challenge. @throws Problem 429 `proof_required` with a challenge.
 */
export async function requireProof(
  deps: ProofDeps,
  purpose: string,
  proof: string | null | undefined,
  factor = 1,
): Promise<void> {
  const about = deps.secrets.hash('proof-of-work/purpose', purpose)
  if (proof && (await spendProof(deps, about, proof))) return
  throw await proofRequired(deps, about, factor)
}

async function proofRequired(
  { clock, secrets }: ProofDeps,
  about: string,
  factor: number,
): Promise<Problem> {
  const challenge = await createChallenge({
    algorithm: 'PBKDF2/SHA-256',
    cost: COST,
    counter: randomInt(COUNTER.max * factor, COUNTER.min * factor),
    deriveKey,
    data: { for: about },
    expiresAt: Math.floor((clock.ms() + LIFE_MS) / 1_000),
    ...deriveKeys(secrets),
  })
  return identityProblem('proof_required', { extra: { challenge } })
}

async function spendProof(
  { clock, limiter, secrets }: ProofDeps,
  about: string,
  proof: string,
): Promise<boolean> {
  const solved = parsed(proof)
  if (!Solved.Check(solved)) return false
  const { challenge, solution } = solved
  const { data, expiresAt } = challenge.parameters
  if (data.for !== about || expiresAt * 1_000 <= clock.ms()) return false
  const { verified } = await verifySolution({
    challenge,
    solution,
    deriveKey,
    ...deriveKeys(secrets),
  }).catch(() => ({ verified: false }))
  if (!verified) return false
  const once = await limiter.hit('proofs', challenge.signature, {
    requests: 1,
    seconds: LIFE_MS / 1_000,
  })
  return once.allowed
}

function parsed(proof: string): unknown {
  try {
    return JSON.parse(Buffer.from(proof, 'base64').toString('utf8'))
  } catch {
    return null
  }
}

const deriveKeys = (secrets: Platform['secrets']) => ({
  hmacSignatureSecret: secrets.key('proof-of-work').toString('base64url'),
  hmacKeySignatureSecret: secrets.key('proof-of-work/solution').toString('base64url'),
})
