import { Autocomplete, NumberInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { modelsQuery } from '../chat/models-query.ts'
import { NamedSlider, SettingsPopover } from '../components/settings-popover.tsx'
import { useUser } from '../session/user.ts'

type AskSettingsProps = { topK: number; minScore: number | undefined; model: string | undefined }

/** The slider's position until the user moves it. */
const DEFAULT_MIN_SCORE = 0.3

/** The address holds these settings, so that links keep them. */
export function AskSettings({ topK, minScore, model }: AskSettingsProps) {
  const [score, setScore] = useState(minScore)
  const navigate = useNavigate()
  const set = (next: { top_k?: number; min_score?: number; model?: string | undefined }) =>
    void navigate({
      to: '/ask',
      search: (search) => ({ ...search, ...next }),
      replace: true,
      resetScroll: false,
    })

  return (
    <SettingsPopover name="Question settings">
      <NumberInput
        label="Passages"
        description="Maximum number used for an answer"
        min={1}
        max={50}
        value={topK}
        onChange={(value) =>
          typeof value === 'number' && value >= 1 && value <= 50 && set({ top_k: value })
        }
      />
      <NamedSlider
        name={`Minimum relevance: ${score?.toFixed(2) ?? 'automatic'}`}
        hint="Passages below this score are ignored"
        min={0}
        max={1}
        step={0.05}
        value={score ?? DEFAULT_MIN_SCORE}
        onChange={setScore}
        onChangeEnd={(value) => set({ min_score: value })}
      />
      <AnsweringModel model={model} onChange={(next) => set({ model: next })} />
    </SettingsPopover>
  )
}

type AnsweringModelProps = {
  model: string | undefined
  onChange: (model: string | undefined) => void
}

/**
 * Accepts any name, because vendors have more models than the service lists. Empty: the default
 * model.
 */
function AnsweringModel({ model, onChange }: AnsweringModelProps) {
  const user = useUser()
  const models = useQuery({ ...modelsQuery, enabled: user.entitlements.includes('ai') })
  const [typed, setTyped] = useState(model ?? '')
  const configured = new Set(
    models.data?.providers.filter((one) => one.configured).map((one) => one.provider),
  )
  const offered = (models.data?.models ?? []).filter(
    ({ kind, provider }) => kind === 'chat' && configured.has(provider),
  )
  const choose = (next: string) => {
    const name = next.trim() || undefined
    if (name !== model) onChange(name)
  }
  return (
    <Autocomplete
      label="Model"
      description="Writes the answer"
      placeholder="Default model"
      data={[...new Set(offered.map(({ provider, id }) => `${provider}/${id}`))]}
      value={typed}
      onChange={setTyped}
      onOptionSubmit={choose}
      onBlur={() => choose(typed)}
      onKeyDown={(event) => event.key === 'Enter' && choose(typed)}
      comboboxProps={{ shadow: 'md', withinPortal: false }}
      limit={50}
    />
  )
}
