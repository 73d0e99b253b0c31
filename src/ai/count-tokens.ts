// Counts the tokens of a prompt, free and without a record: the vendor counts them where it can,
// otherwise an estimate that errs high.
import { getVendor, type Route } from '#models/catalogue.ts'
import { createAttemptLog } from './attempt-log.ts'
import { attempt } from './attempts.ts'
import type { GatewayCall } from './chat-call.ts'
import { estimateJsonTokens } from './estimate.ts'
import type { Endpoint, Gateway } from './gateway.ts'
import { createPatience } from './patience.ts'
import { findRoutes } from './routing.ts'
import { vendorProblem } from './vendor-problem.ts'
import type { AnswerLimits } from './vendors/exchange.ts'
import type { NativeRequest } from './vendors/vendor.ts'

type Count = Pick<GatewayCall, 'caller' | 'first' | 'signal'> & { native: NativeRequest }

/** @throws Problem 400, 403, 502, 503, 504; the signal's reason */
export async function countTokens(
  gateway: Gateway,
  { caller, first, native, signal }: Count,
): Promise<number> {
  const { wire, targets, config } = gateway
  const [route] = findRoutes(config, caller, first)
  const own = getVendor(targets, route.vendor).vendor.native
  const counter = own?.api === native.api && own.speaks(route.model) ? own.count : undefined
  if (counter === undefined) return estimateJsonTokens(native.body)
  const attemptLog = createAttemptLog(0)
  try {
    const ask = ({ model }: Route, { target }: Endpoint, limits: AnswerLimits) => {
      // Each endpoint has a different key.
      const { shape, readAnswer } = target.vendor.native?.count ?? counter
      return wire.send(target, shape(model, native), signal, undefined, limits).then(readAnswer)
    }
    const { result } = await attempt(
      gateway,
      [route],
      signal,
      attemptLog,
      ask,
      createPatience(config),
    )
    return result
  } catch (error) {
    throw vendorProblem(gateway, error, attemptLog)
  }
}
