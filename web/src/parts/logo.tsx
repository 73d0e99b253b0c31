import { Group, Text } from '@mantine/core'
import type { SVGProps } from 'react'

/** A latchkey: the bow is a front door, the bit opens it. Drawn in the current colour. */
export function Mark(props: SVGProps<SVGSVGElement>) {
  return (
    <svg viewBox="0 0 32 32" width="28" height="28" fill="currentColor" aria-hidden="true" focusable="false" {...props}>
      <g transform="rotate(-45 16 16)">
        <path
          fillRule="evenodd"
          d="M8.5 7.5a8.5 8.5 0 1 1 0 17 8.5 8.5 0 0 1 0-17Zm-2.7 12h5.4v-4.3a2.7 2.7 0 0 0-5.4 0v4.3Z"
        />
        <path d="M16 14h15.5v3.9h-1.7V22h-3.4v-4.1h-2.5v5.3h-3.4v-5.3H16z" />
      </g>
    </svg>
  )
}

export function Wordmark() {
  return (
    <Group gap={10} wrap="nowrap">
      <Mark style={{ color: 'var(--latch-accent)', flexShrink: 0 }} />
      <Text component="span" ff="var(--mantine-font-family-headings)" fw={600} fz={21} lts="-0.01em">
        Latchkey
      </Text>
    </Group>
  )
}
