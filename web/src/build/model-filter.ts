import type { ModelCapabilities, PlanModel } from '../api/types.ts'
import { t } from '../language/text.ts'

export type Ability = Exclude<keyof ModelCapabilities, 'temperature' | 'forced_tools'>

/** The abilities that the page names, in its order. */
export const ABILITIES: readonly { value: Ability; label: string }[] = [
  { value: 'vision', label: t('Images') },
  { value: 'pdf', label: 'PDF' },
  { value: 'audio', label: t('Audio') },
  { value: 'tools', label: t('Tools') },
  { value: 'json_schema', label: t('JSON schema') },
  { value: 'thinking', label: t('Reasoning') },
]

export const ORDERS = [
  { value: 'input', label: t('Cheapest input') },
  { value: 'output', label: t('Cheapest output') },
  { value: 'context', label: t('Longest context') },
  { value: 'name', label: t('Name') },
] as const

/** As the address holds it. Anyone can write a link, so the values may be any text. */
export type ModelSearch = {
  q?: string | undefined
  vendor?: string | undefined
  can?: string | undefined
  order?: string | undefined
  mine?: true | undefined
}

const COMPARE: Record<string, (one: PlanModel, other: PlanModel) => number> = {
  input: (one, other) => one.input_usd_per_million - other.input_usd_per_million,
  output: (one, other) => one.output_usd_per_million - other.output_usd_per_million,
  context: (one, other) => (other.context_tokens ?? 0) - (one.context_tokens ?? 0),
  name: (one, other) => one.id.localeCompare(other.id),
}

/** Returns the models that match, in the chosen order or in that of the service. */
export function filterModels(
  models: readonly PlanModel[],
  { q = '', vendor, can, order = '', mine }: ModelSearch,
): PlanModel[] {
  const words = q.toLowerCase().split(/\s+/)
  const found = models.filter((model) => {
    const name = `${model.provider}/${model.id} ${model.provider_label}`.toLowerCase()
    return (
      words.every((word) => name.includes(word)) &&
      (vendor === undefined || model.provider === vendor) &&
      (can === undefined || listAbilities(model).some(({ value }) => value === can)) &&
      (mine === undefined || model.included)
    )
  })
  const compare = Object.hasOwn(COMPARE, order) ? COMPARE[order] : undefined
  return compare === undefined ? found : found.toSorted(compare)
}

/** Returns the abilities that the model is known to have. */
export function listAbilities({ capabilities }: PlanModel) {
  return ABILITIES.filter(({ value }) => capabilities?.[value] === true)
}
