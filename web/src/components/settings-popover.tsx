import { ActionIcon, Popover, Slider, type SliderProps, Stack, Text, Tooltip } from '@mantine/core'
import { IconAdjustmentsHorizontal } from '@tabler/icons-react'
import { type ReactNode, useId } from 'react'

/** The settings of a page, behind one button. `name` is what a screen reader calls them. */
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

/** A slider whose name says its value. */
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
