import { ActionIcon, NumberInput, Popover, Slider, Stack, Text, Textarea, Tooltip } from '@mantine/core'
import { IconAdjustmentsHorizontal } from '@tabler/icons-react'
import { useId } from 'react'

export type Tuning = { temperature: number; maxTokens: number; instructions: string }

export function TuningPopover({ tuning, onChange }: { tuning: Tuning; onChange: (tuning: Tuning) => void }) {
  const temperatureId = useId()
  return (
    <Popover width={320} position="bottom-end" shadow="md" withArrow trapFocus withinPortal={false}>
      <Popover.Target>
        <Tooltip label="Settings">
          <ActionIcon aria-label="Chat settings">
            <IconAdjustmentsHorizontal size={20} stroke={1.6} aria-hidden />
          </ActionIcon>
        </Tooltip>
      </Popover.Target>
      <Popover.Dropdown aria-label="Chat settings">
        <Stack gap="md">
          <Textarea
            label="Instructions"
            description="Sent before every conversation"
            autosize
            minRows={2}
            maxRows={6}
            value={tuning.instructions}
            onChange={(event) => onChange({ ...tuning, instructions: event.currentTarget.value })}
          />
          <div>
            <Text fw={500} id={temperatureId}>
              Temperature: {tuning.temperature.toFixed(1)}
            </Text>
            <Text c="dimmed" size="sm" mb="xs">
              Lower is steadier, higher is freer
            </Text>
            <Slider
              min={0}
              max={2}
              step={0.1}
              label={null}
              value={tuning.temperature}
              onChange={(temperature) => onChange({ ...tuning, temperature })}
              thumbProps={{ 'aria-labelledby': temperatureId }}
            />
          </div>
          <NumberInput
            label="Longest answer"
            description="In tokens, up to 16,384"
            min={1}
            max={16384}
            step={100}
            value={tuning.maxTokens}
            onChange={(value) => typeof value === 'number' && onChange({ ...tuning, maxTokens: value })}
            clampBehavior="blur"
          />
        </Stack>
      </Popover.Dropdown>
    </Popover>
  )
}
