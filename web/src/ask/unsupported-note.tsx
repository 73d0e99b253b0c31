import { Alert, List } from '@mantine/core'
import type { Citation } from '../api/types.ts'
import { plural } from '../components/format.ts'

type UnsupportedNoteProps = { answer: string; citations: Citation[] }

/**
 * Lists statements whose cited passage does not support them. The answer shows them without a
 * citation.
 */
export function UnsupportedNote({ answer, citations }: UnsupportedNoteProps) {
  const statements = new Set(
    citations
      .filter(
        (one) =>
          !one.supported &&
          !citations.some((other) => other.supported && other.start === one.start),
      )
      .map(({ start, end }) => answer.slice(start, end).trim()),
  )
  if (statements.size === 0) return null
  return (
    <Alert
      color="yellow"
      variant="light"
      mt="sm"
      title={`${plural(statements.size, 'statement')} not found in the passages`}
    >
      <List size="sm">
        {[...statements].map((statement) => (
          <List.Item key={statement} dir="auto">
            {statement}
          </List.Item>
        ))}
      </List>
    </Alert>
  )
}
