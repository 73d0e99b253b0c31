import { IconArrowsExchange, IconQuote, IconRefresh } from '@tabler/icons-react'
import { formatCallCost, plural } from '../../components/format.ts'
import { t } from '../../language/text.ts'
import type { Message } from '../api.ts'
import { removeMarks } from '../citations.ts'
import { ModelMenu } from '../composer/model-picker.tsx'
import { IconButton } from '../parts/icon-button.tsx'
import classes from './answer.module.css'
import { BranchNav } from './branch-nav.tsx'
import { CopyButton } from './copy-button.tsx'
import { listSources } from './source-list.tsx'

type AnswerFooterProps = {
  message: Message
  text: string
  isLocked: boolean
  showsSources: boolean
  onSources: () => void
  onRetry: (answer: Message, model?: string) => void
  onChoose: (id: string) => void
}

export function AnswerFooter({
  message,
  text,
  isLocked,
  showsSources,
  onSources,
  onRetry,
  onChoose,
}: AnswerFooterProps) {
  const { model, usage, sources } = message
  const shown = listSources(message, text).length
  const cost = usage?.cost_usd
  return (
    <footer className={classes.footer}>
      {shown > 0 && (
        <button
          type="button"
          className={classes.sourcesButton}
          aria-expanded={showsSources}
          onClick={onSources}
        >
          <IconQuote size={16} aria-hidden />
          {plural(shown, 'source')}
        </button>
      )}
      {text !== '' && (
        <CopyButton label={t('Copy answer')} read={() => removeMarks(text, sources.length)} />
      )}
      <IconButton label={t('Answer again')} disabled={isLocked} onClick={() => onRetry(message)}>
        <IconRefresh size={17} aria-hidden />
      </IconButton>
      <ModelMenu
        label={t('Answer with another model')}
        model={model}
        onPick={(picked) => onRetry(message, picked)}
        button={(target) => (
          <IconButton {...target} label={t('Answer with another model')} disabled={isLocked}>
            <IconArrowsExchange size={17} aria-hidden />
          </IconButton>
        )}
      />
      <BranchNav message={message} what="answer" onChoose={onChoose} />
      <span className={classes.made}>
        {model}
        {typeof cost === 'number' && ` · ${formatCallCost(cost)}`}
      </span>
    </footer>
  )
}
