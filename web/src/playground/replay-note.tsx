import { Alert } from '@mantine/core'
import { IconTerminal2 } from '@tabler/icons-react'
import type { Call } from '../api/types.ts'
import { formatExactTime, plural } from '../components/format.ts'
import { t } from '../language/text.ts'

/** Says which parts of a replayed call are filled in. */
export function ReplayNote({ call, isWhole }: { call: Call; isWhole: boolean }) {
  return (
    <Alert
      color="gray"
      icon={<IconTerminal2 size={20} aria-hidden />}
      title={t('Replay of the call of {0}', formatExactTime(call.at))}
    >
      {isWhole
        ? t('This browser kept your request. Send it again, or change it first.')
        : listGaps(call)}
    </Alert>
  )
}

function listGaps({ parameters }: Call): string {
  const gaps = [
    t('We never store prompts, so write the messages again.'),
    parameters === null
      ? t('Only the model of this call is known.')
      : t(
          'The model and the settings of the call are filled in. It had {0}.',
          plural(parameters.messages, 'message'),
        ),
    parameters?.tools &&
      t('The call had {0}. The playground sends none.', plural(parameters.tools, 'tool')),
  ]
  return gaps.filter(Boolean).join(' ')
}
