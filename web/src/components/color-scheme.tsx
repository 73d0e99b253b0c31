import { useMantineColorScheme } from '@mantine/core'
import { IconDeviceDesktop, IconMoon, IconSun } from '@tabler/icons-react'
import { IconButton } from '../conversations/parts/icon-button.tsx'
import { t } from '../language/text.ts'
import { Menu, type MenuItem } from './menu.tsx'

const CHOICES = [
  { value: 'light', label: t('Light'), icon: IconSun },
  { value: 'dark', label: t('Dark'), icon: IconMoon },
  { value: 'auto', label: t('System'), icon: IconDeviceDesktop },
] as const

export function ColorScheme() {
  const { colorScheme } = useMantineColorScheme()
  const items = useColorSchemeItems()
  const Current = CHOICES.find(({ value }) => value === colorScheme)?.icon ?? IconDeviceDesktop
  return (
    <Menu
      label={t('Color scheme')}
      button={(target) => (
        <IconButton
          {...target}
          label={t('Color scheme')}
          data-tip-side="below"
          data-tip-align="end"
        >
          <Current size={18} stroke={1.6} aria-hidden />
        </IconButton>
      )}
      groups={[items]}
    />
  )
}

export function useColorSchemeItems(): MenuItem[] {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  return CHOICES.map(({ value, label, icon }) => ({
    label,
    icon,
    checked: colorScheme === value,
    onSelect: () => setColorScheme(value),
  }))
}
