/** Abilities of the models that may answer. */
import type { Gateway } from '#ai/gateway.ts'
import { expandRoute, getVendor, type Route } from '#models/catalogue.ts'
import { conversationProblem } from '../problems.ts'

/** `unknown`: the result for models that the catalogue does not describe. The sandbox has all. */
export function hasAbility(
  { config, targets }: Pick<Gateway, 'config' | 'targets'>,
  first: Route,
  ability: 'tools' | 'vision',
  unknown = false,
): boolean {
  return expandRoute(config, first).every(({ vendor, model }) => {
    if (getVendor(config.vendors, vendor).sandboxed) return true
    const { [ability]: has } = getVendor(targets, vendor).vendor.capabilities(model)
    return has ?? unknown
  })
}

/** @throws Problem 400 for images to a model that is known to see none */
export function requireVision(
  gateway: Pick<Gateway, 'config' | 'targets'>,
  first: Route,
  parts: readonly { type: string }[],
): void {
  if (!parts.some(({ type }) => type === 'image')) return
  if (hasAbility(gateway, first, 'vision', true)) return
  throw conversationProblem('model_without_vision', { model: first.model })
}
