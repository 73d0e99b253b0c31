import { Autocomplete, Group, Select } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { readinessQuery } from '../api/readiness.ts'
import { modelsQuery, vendorOf } from './models-query.ts'

type Choice = { provider: string | undefined; model: string | undefined }
type ModelChoiceProps = Choice & { onChange: (choice: Choice) => void }

const PROVIDERS = [
  { value: 'openai', label: 'OpenAI' },
  { value: 'anthropic', label: 'Anthropic' },
  { value: 'gemini', label: 'Gemini' },
]

/** The vendor, and optionally one of its models: left empty, the vendor's default answers. */
export function ModelChoice({ provider, model, onChange }: ModelChoiceProps) {
  const models = useQuery(modelsQuery)
  const { data: readiness } = useQuery(readinessQuery)
  const vendor = provider ?? 'openai'
  const providers = PROVIDERS.map(({ value, label }) => {
    const missing = readiness?.vendors?.[value] === 'not configured'
    return { value, label: missing ? `${label} (not set up)` : label, disabled: missing }
  })
  const [typed, setTyped] = useState(model ?? '')
  const names = (models.data ?? [])
    .filter((known) => vendorOf(known) === vendor && !/embed/.test(known.id))
    .map(({ id }) => id)

  const choose = (next: string) => onChange({ provider, model: next.trim() || undefined })

  return (
    <Group gap="xs" wrap="nowrap" miw={0} flex="1 1 18rem">
      <Select
        aria-label="Provider"
        data={providers}
        value={vendor}
        onChange={(next) => {
          setTyped('')
          onChange({ provider: next === 'openai' || next === null ? undefined : next, model: undefined })
        }}
        w={136}
        style={{ flexShrink: 0 }}
        comboboxProps={{ shadow: 'md' }}
      />
      <Autocomplete
        aria-label="Model"
        placeholder="Default model"
        data={[...new Set(names)]}
        value={typed}
        onChange={setTyped}
        onOptionSubmit={choose}
        onBlur={() => choose(typed)}
        onKeyDown={(event) => event.key === 'Enter' && choose(typed)}
        maw={220}
        miw={0}
        flex={1}
        comboboxProps={{ shadow: 'md' }}
      />
    </Group>
  )
}
