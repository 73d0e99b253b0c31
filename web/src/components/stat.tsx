import { Paper, SimpleGrid, Text } from '@mantine/core'
import type { ReactNode } from 'react'

/** One number with its label. */
export function Stat({
  label,
  children,
  note,
}: {
  label: string
  children: ReactNode
  note?: ReactNode
}) {
  return (
    <Paper withBorder p="lg" style={{ containerType: 'inline-size' }}>
      <Text c="dimmed" size="sm">
        {label}
      </Text>
      <Text
        component="div"
        ff="var(--mantine-font-family-headings)"
        fz="clamp(1.125rem, 14cqi, 1.875rem)"
        fw={600}
        lh={1.3}
        className="numbers"
      >
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

/** Four numbers in a row, or two by two in narrow containers. */
export function StatGrid({ children }: { children: ReactNode }) {
  return (
    <SimpleGrid type="container" cols={{ base: 2, '45rem': 4 }}>
      {children}
    </SimpleGrid>
  )
}
