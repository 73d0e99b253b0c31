import { Paper, Text } from '@mantine/core'
import type { ReactNode } from 'react'

/** One number and what it counts. */
export function Stat({ label, children, note }: { label: string; children: ReactNode; note?: ReactNode }) {
  return (
    <Paper withBorder p="lg">
      <Text c="dimmed" size="sm">
        {label}
      </Text>
      <Text component="div" ff="var(--mantine-font-family-headings)" fz={30} fw={600} lh={1.2} className="numbers">
        {children}
      </Text>
      {note && (
        <Text c="dimmed" size="sm" component="div">
          {note}
        </Text>
      )}
    </Paper>
  )
}
