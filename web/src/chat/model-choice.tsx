import { Autocomplete, Group, Select, Skeleton } from '@mantine/core'
import { useState } from 'react'
import type { ModelList } from '../api/types.ts'
import type { ChosenModel, ModelSearch } from './chosen-model.ts'

type ModelChoiceProps = {
  models: ModelList | undefined
  chosen: ChosenModel
  failed: boolean
  onChange: (wanted: ModelSearch) => void
}

/** Selects a vendor and optionally a model; an empty model means the vendor's default. */
export function ModelChoice({ models, chosen, failed, onChange }: ModelChoiceProps) {
  const { provider, model } = chosen
  const [typed, setTyped] = useState(model ?? '')
  // The typed text is stale after a link or another provider chose a different model.
  const [shown, setShown] = useState(model)
  if (shown !== model) {
    setShown(model)
    setTyped(model ?? '')
  }

  if (models === undefined && !failed) return <Skeleton h={44} w={136} />
  const providers = (models?.providers ?? []).map((one) => ({
    value: one.provider,
    label: one.configured ? one.label : `${one.label} (not set up)`,
    disabled: !one.configured,
  }))
  const offered = (models?.models ?? []).filter(
    (one) => one.provider === provider && one.kind === 'chat',
  )
  const defaultModel = models?.providers.find((one) => one.provider === provider)?.default_model
  const choose = (next: string) => {
    const name = next.trim() || undefined
    if (name !== model) onChange({ provider, model: name })
  }

  return (
    <Group gap="xs" wrap="nowrap" miw={0} flex="1 1 18rem">
      {providers.length > 0 && (
        <Select
          aria-label="Provider"
          data={providers}
          value={provider ?? null}
          onChange={(next) => next !== null && onChange({ provider: next, model: undefined })}
          w={136}
          style={{ flexShrink: 0 }}
          comboboxProps={{ shadow: 'md' }}
        />
      )}
      <Autocomplete
        aria-label="Model"
        placeholder={defaultModel ?? 'Default model'}
        data={[...new Set(offered.map(({ id }) => id))]}
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
