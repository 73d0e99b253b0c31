import { SimpleGrid, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { NAV_ITEMS } from '../shell/navigation.ts'
import classes from './shortcuts.module.css'

const SHOWN = ['/chat', '/ask', '/documents', '/api-keys']

export function Shortcuts() {
  return (
    <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }} mt="md">
      {NAV_ITEMS.filter(({ to }) => SHOWN.includes(to)).map(({ to, label, about, icon: Glyph }) => (
        <Link key={to} to={to} className={classes.card}>
          <Glyph size={24} stroke={1.5} className={classes.icon} aria-hidden />
          <Text fw={600}>{label}</Text>
          <Text c="dimmed" size="sm">
            {about}
          </Text>
        </Link>
      ))}
    </SimpleGrid>
  )
}
