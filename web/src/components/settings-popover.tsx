import { ActionIcon, Popover, Slider, type SliderProps, Stack, Text, Tooltip } from '@mantine/core'
import { IconAdjustmentsHorizontal } from '@tabler/icons-react'
import { type ReactNode, useId } from 'react'

/** Button that opens the settings of a page. `name` is the label for screen readers. */
export function SettingsPopover({ name, children }: { name: string; children: ReactNode }) {
  return (
    <Popover width={320} position="bottom-end" shadow="md" withArrow trapFocus withinPortal={false}>
      <Popover.Target>
        <Tooltip label="Settings">
          <ActionIcon aria-label={name}>
            <IconAdjustmentsHorizontal size={20} stroke={1.6} aria-hidden />
          </ActionIcon>
        </Tooltip>
      </Popover.Target>
      <Popover.Dropdown aria-label={name}>
        <Stack gap="md">{children}</Stack>
      </Popover.Dropdown>
    </Popover>
  )
}

type NamedSliderProps = SliderProps & { name: string; hint: string }

/** Slider whose label includes the value. */
export function NamedSlider({ name, hint, ...slider }: NamedSliderProps) {
  const id = useId()
  return (
    <div>
      <Text fw={500} id={id}>
        {name}
      </Text>
      <Text c="dimmed" size="sm" mb="xs">
        {hint}
      </Text>
      <Slider label={null} thumbProps={{ 'aria-labelledby': id }} {...slider} />
    </div>
  )
}
