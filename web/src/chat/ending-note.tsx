import { Alert, Button, Group, Text } from '@mantine/core'
import { IconArrowRight } from '@tabler/icons-react'
import { describeFailedAnswer } from '../stream/failure-message.ts'
import type { Ending } from '../stream/stream.ts'

type EndingNoteProps = {
  ending: Ending
  /** Part of the answer is there. */
  begun: boolean
  others?: string[]
  /** Continues the answer where it broke off; missing where that is not possible. */
  onContinue?: (() => void) | undefined
}

const MESSAGES = {
  length: 'Stopped at the length limit.',
  withheld: 'The rest of this answer was withheld by the model’s own filter.',
  stopped: 'You stopped this answer.',
  left: 'This answer broke off when you left the page.',
  cut: 'The connection broke off: this answer is not complete.',
} as const

/** A page cannot tell an answer that another tab is writing from one whose tab was closed. */
const NOTHING_YET =
  'This answer broke off when you left the page, or another tab is still writing it.'

/** An answer that is not whole says so, always, and where it can be continued, how. */
export function EndingNote({ ending, begun, others, onContinue }: EndingNoteProps) {
  if (ending.kind === 'complete') return null
  const more = ending.kind !== 'withheld' && onContinue && (
    <Button
      variant="default"
      rightSection={<IconArrowRight size={18} aria-hidden />}
      onClick={onContinue}
    >
      Continue
    </Button>
  )
  if (ending.kind === 'failed' || ending.kind === 'cut') {
    const failed = ending.kind === 'failed'
    return (
      <Alert color={failed ? 'red' : 'brass'} mt="sm" role="alert">
        {failed ? describeFailedAnswer(ending, { begun, ...(others && { others }) }) : MESSAGES.cut}
        {more && <div style={{ marginTop: '0.5rem' }}>{more}</div>}
      </Alert>
    )
  }
  return (
    <Group gap="sm" mt="xs">
      <Text c="dimmed" size="sm">
        {ending.kind === 'left' && !begun ? NOTHING_YET : MESSAGES[ending.kind]}
      </Text>
      {more}
    </Group>
  )
}
