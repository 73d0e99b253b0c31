import { Card, Text, Title } from '@mantine/core'
import { type ReactNode, useId } from 'react'

/** One matter of the account: its name, a sentence, and what can be done. */
export function Panel({
  title,
  lead,
  children,
}: {
  title: string
  lead?: ReactNode
  children?: ReactNode
}) {
  const id = useId()
  return (
    <Card component="section" aria-labelledby={id}>
      <Title order={2} fz="h3" id={id}>
        {title}
      </Title>
      {lead && (
        <Text c="dimmed" mt={4} mb="md" component="div">
          {lead}
        </Text>
      )}
      {children}
    </Card>
  )
}
