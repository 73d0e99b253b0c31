/** Tests the key of a vendor by one short answer, before the service uses the key. */
import { getVendor } from '#models/catalogue.ts'
import type { Platform } from '#platform/platform.ts'
import type { LiveSwitches } from '#switches/live.ts'
import { openVendors } from './gateway.ts'
import { VendorError } from './vendors/vendor-error.ts'

/** Enough for a greeting, and the least that all vendors accept. */
const ANSWER_TOKENS = 16
const TIMEOUT_MS = 20_000

export type KeyTest = { model: string; latencyMs: number } | { failure: string }

/** `config`: the settings with the key to test. Nothing is retried, recorded or charged to a user. */
export async function testVendorKey(
  platform: Pick<Platform, 'config' | 'clock' | 'log' | 'tracer'>,
  switches: LiveSwitches,
  vendor: string,
): Promise<KeyTest> {
  const { wire, targets } = openVendors(platform, switches)
  const { defaultModel } = getVendor(platform.config.ai.vendors, vendor)
  const target = targets[vendor]
  if (target === undefined) throw new Error(`no target for the vendor ${vendor}`)
  const begun = performance.now()
  try {
    const request = target.vendor.shape(
      defaultModel,
      { messages: [{ role: 'user', content: 'Say hello.' }], max_tokens: ANSWER_TOKENS },
      false,
    )
    const body = await wire.send(target, request, AbortSignal.timeout(TIMEOUT_MS))
    target.vendor.readAnswer(body)
    return { model: defaultModel, latencyMs: Math.round(performance.now() - begun) }
  } catch (error) {
    if (error instanceof VendorError) return { failure: describeFailure(error, defaultModel) }
    if (error instanceof DOMException)
      return { failure: `no answer within ${TIMEOUT_MS / 1_000} s` }
    throw error
  } finally {
    await wire.close()
  }
}

function describeFailure({ failure, status, message }: VendorError, model: string): string {
  // OpenAI also answers 429 for an account without credit; its words explain that.
  if (failure === 'unauthorized' && status !== 429) return `it rejects the key (${status})`
  if (failure === 'unknown-model') return `it has no model ${model}`
  return `it ${message}`
}
