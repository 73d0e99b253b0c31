import { Box, Group, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import { useTitle } from './title.ts'

type PageProps = {
  title: string
  lead?: ReactNode
  actions?: ReactNode
  wide?: boolean
  children: ReactNode
}

/** Page of the app with a heading, a sentence and actions. */
export function Page({ title, lead, actions, wide = false, children }: PageProps) {
  useTitle(title)
  return (
    <Box maw={wide ? 1240 : 980} mx="auto" w="100%">
      <Group justify="space-between" align="flex-end" mb="lg" gap="md">
        <Box maw={640} miw={0}>
          <Title order={1}>{title}</Title>
          {lead && (
            <Text c="dimmed" mt={6}>
              {lead}
            </Text>
          )}
        </Box>
        {actions}
      </Group>
      {children}
    </Box>
  )
}
