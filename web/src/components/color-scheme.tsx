import { useMantineColorScheme } from '@mantine/core'
import { IconDeviceDesktop, IconMoon, IconSun } from '@tabler/icons-react'
import { DropMenu, type DropMenuItem } from './drop-menu.tsx'

const CHOICES = [
  { value: 'light', label: 'Light', icon: IconSun },
  { value: 'dark', label: 'Dark', icon: IconMoon },
  { value: 'auto', label: 'System', icon: IconDeviceDesktop },
] as const

export function ColorScheme() {
  const { colorScheme } = useMantineColorScheme()
  const items = useColorSchemeItems()
  const Current = CHOICES.find(({ value }) => value === colorScheme)?.icon ?? IconDeviceDesktop
  return (
    <DropMenu
      label="Color scheme"
      button={<Current size={18} stroke={1.6} aria-hidden />}
      groups={[items]}
    />
  )
}

export function useColorSchemeItems(): DropMenuItem[] {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  return CHOICES.map(({ value, label, icon }) => ({
    label,
    icon,
    checked: colorScheme === value,
    onSelect: () => setColorScheme(value),
  }))
}
