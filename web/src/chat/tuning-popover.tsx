import { NumberInput, Textarea } from '@mantine/core'
import { NamedSlider, SettingsPopover } from '../parts/settings-popover.tsx'

/** `maxTokens` null: as long as the model can. */
export type Tuning = { temperature: number; maxTokens: number | null; instructions: string }

export function TuningPopover({ tuning, onChange }: { tuning: Tuning; onChange: (tuning: Tuning) => void }) {
  return (
    <SettingsPopover name="Chat settings">
      <Textarea
        label="Instructions"
        description="Sent before every conversation"
        autosize
        minRows={2}
        maxRows={6}
        value={tuning.instructions}
        onChange={(event) => onChange({ ...tuning, instructions: event.currentTarget.value })}
      />
      <NamedSlider
        name={`Temperature: ${tuning.temperature.toFixed(1)}`}
        hint="Lower is steadier, higher is freer"
        min={0}
        max={2}
        step={0.1}
        value={tuning.temperature}
        onChange={(temperature) => onChange({ ...tuning, temperature })}
      />
      <NumberInput
        label="Longest answer"
        description="In tokens, up to 16,384; empty: as long as the model can"
        placeholder="As long as the model can"
        min={1}
        max={16384}
        step={100}
        value={tuning.maxTokens ?? ''}
        onChange={(value) => onChange({ ...tuning, maxTokens: typeof value === 'number' ? value : null })}
        clampBehavior="blur"
      />
    </SettingsPopover>
  )
}
