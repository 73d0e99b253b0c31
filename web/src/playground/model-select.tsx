import { Select } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { modelsQuery } from '../api/queries.ts'
import { t } from '../language/text.ts'

type ModelSelectProps = { model: string; onChange: (model: string) => void }

/** The chat models that the user may call, by vendor, with the chosen one's prices. */
export function ModelSelect({ model, onChange }: ModelSelectProps) {
  const { data } = useQuery(modelsQuery)
  const models = data?.models.filter(({ kind, available }) => kind === 'chat' && available) ?? []
  const current = models.find(({ id, provider }) => [id, `${provider}/${id}`].includes(model))
  const groups = (data?.providers ?? []).map(({ provider, label }) => ({
    group: label,
    items: [...new Set(models.filter((one) => one.provider === provider).map(({ id }) => id))],
  }))
  // A link may name a model that the list lacks.
  const listed = groups.filter(({ items }) => items.length > 0)
  const isListed = model === '' || current !== undefined
  return (
    <Select
      label={t('Model')}
      description={
        current &&
        t(
          '${0} in, ${1} out per million tokens',
          current.input_usd_per_million,
          current.output_usd_per_million,
        )
      }
      searchable
      allowDeselect={false}
      nothingFoundMessage={t('No models')}
      data={isListed ? listed : [{ group: t('From the link'), items: [model] }, ...listed]}
      value={current?.id ?? (model === '' ? null : model)}
      onChange={(next) => next !== null && onChange(next)}
    />
  )
}
