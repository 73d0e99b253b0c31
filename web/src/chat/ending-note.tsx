import { Alert, Button, Group, Text } from '@mantine/core'
import { IconArrowRight } from '@tabler/icons-react'
import { describeFailedAnswer } from '../stream/failure-message.ts'
import type { Ending } from '../stream/stream.ts'

type EndingNoteProps = {
  ending: Ending
  /** Part of the answer has arrived. */
  begun: boolean
  others?: string[]
  /** Continues the answer; undefined when that is not possible. */
  onContinue?: (() => void) | undefined
}

const MESSAGES = {
  length: 'Stopped at the length limit.',
  withheld: 'The model’s content filter stopped this answer.',
  stopped: 'You stopped this answer.',
  left: 'This answer stopped when you left the page.',
  cut: 'The connection was lost. This answer is incomplete.',
} as const

/** The answer may be in progress in another tab; a page cannot see that. */
const NOTHING_YET =
  'This answer stopped when you left the page, or another tab is still writing it.'

/** Shows why an answer is incomplete, with a button to continue it. */
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
