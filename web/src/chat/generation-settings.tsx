import { NumberInput, Textarea } from '@mantine/core'
import { NamedSlider, SettingsPopover } from '../components/settings-popover.tsx'
import type { GenerationSettings } from './conversation.ts'

type GenerationSettingsPopoverProps = {
  settings: GenerationSettings
  onChange: (settings: GenerationSettings) => void
}

export function GenerationSettingsPopover({ settings, onChange }: GenerationSettingsPopoverProps) {
  return (
    <SettingsPopover name="Chat settings">
      <Textarea
        label="Instructions"
        description="System prompt for every conversation"
        autosize
        minRows={2}
        maxRows={6}
        value={settings.instructions}
        onChange={(event) => onChange({ ...settings, instructions: event.currentTarget.value })}
      />
      <NamedSlider
        name={`Temperature: ${settings.temperature.toFixed(1)}`}
        hint="Lower is more predictable, higher is more creative"
        min={0}
        max={2}
        step={0.1}
        value={settings.temperature}
        onChange={(temperature) => onChange({ ...settings, temperature })}
      />
      <NumberInput
        label="Maximum length"
        description="In tokens, up to 16,384. Empty: the model’s limit."
        placeholder="Model’s limit"
        min={1}
        max={16384}
        step={100}
        value={settings.maxTokens ?? ''}
        onChange={(value) =>
          onChange({ ...settings, maxTokens: typeof value === 'number' ? value : null })
        }
        clampBehavior="blur"
      />
    </SettingsPopover>
  )
}
