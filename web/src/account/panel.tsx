import { Card, Text, Title } from '@mantine/core'
import { type ReactNode, useId } from 'react'

/** One section of the account page. */
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
