/** The abilities of models, as the APIs list them. */
import { Type } from 'typebox'
import { getVendor, type Route, type Temperature } from '#models/catalogue.ts'
import { NamedObject, Nullable, OneOf } from '#platform/http/schema.ts'
import type { Gateway } from './gateway.ts'
import type { Capabilities } from './vendors/vendor.ts'

const Ability = Nullable(Type.Boolean())

export const ModelCapabilities = NamedObject(
  'ModelCapabilities',
  {
    temperature: OneOf('taken', 'refused', 'without-reasoning'),
    thinking: Type.Boolean(),
    forced_tools: Type.Boolean(),
    vision: Ability,
    pdf: Ability,
    audio: Ability,
    tools: Ability,
    json_schema: Ability,
  },
  { description: 'Null: unknown.' },
)

const STRICTEST: readonly Temperature[] = ['refused', 'without-reasoning', 'taken']

/** Returns the limits that hold for each of the models. */
export function combineCapabilities(
  targets: Gateway['targets'],
  routes: readonly Route[],
): Capabilities {
  const all = routes.map(({ vendor, model }) =>
    getVendor(targets, vendor).vendor.capabilities(model),
  )
  const combine = (of: (one: Capabilities) => boolean | null) => {
    const values = all.map(of)
    return values.includes(false) ? false : values.includes(null) ? null : true
  }
  return {
    temperature:
      STRICTEST.find((one) => all.some(({ temperature }) => temperature === one)) ?? 'taken',
    thinking: all.some(({ thinking }) => thinking),
    forced_tools: all.every(({ forced_tools: forced }) => forced),
    vision: combine(({ vision }) => vision),
    pdf: combine(({ pdf }) => pdf),
    audio: combine(({ audio }) => audio),
    tools: combine(({ tools }) => tools),
    json_schema: combine(({ json_schema: schema }) => schema),
  }
}
