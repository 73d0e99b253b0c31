import { ActionIcon, Menu, useMantineColorScheme } from '@mantine/core'
import { IconCheck, IconDeviceDesktop, IconMoon, IconSun } from '@tabler/icons-react'

const CHOICES = [
  { value: 'light', label: 'Light', icon: IconSun },
  { value: 'dark', label: 'Dark', icon: IconMoon },
  { value: 'auto', label: 'System', icon: IconDeviceDesktop },
] as const

export function ColorScheme() {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const Current = CHOICES.find((choice) => choice.value === colorScheme)?.icon ?? IconDeviceDesktop
  return (
    <Menu position="bottom-end" width={200}>
      <Menu.Target>
        <ActionIcon aria-label="Color scheme">
          <Current size={20} stroke={1.6} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {CHOICES.map(({ value, label, icon: Glyph }) => (
          <Menu.Item
            key={value}
            leftSection={<Glyph size={18} aria-hidden />}
            rightSection={
              colorScheme === value ? <IconCheck size={16} aria-label="chosen" /> : null
            }
            onClick={() => setColorScheme(value)}
          >
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}
