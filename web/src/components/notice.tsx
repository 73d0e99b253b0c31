import { type Icon, IconLock, IconPlugConnectedX, IconRefresh } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { ApiProblem, formatProblem, isClosedInView } from '../api/problem.ts'
import { ActionButton } from '../conversations/parts/action-button.tsx'
import { t } from '../language/text.ts'
import classes from './notice.module.css'

type NoticeProps = {
  icon: Icon
  title: string
  children?: ReactNode
  action?: ReactNode
  order?: 1 | 2 | 3
}

/** Empty or error state in place of content. */
export function Notice({ icon: Glyph, title, children, action, order = 2 }: NoticeProps) {
  const Heading = `h${order}` as const
  return (
    <div className={classes.notice}>
      <span className={classes.icon}>
        <Glyph size={28} stroke={1.5} aria-hidden />
      </span>
      <Heading>{title}</Heading>
      {children && <div className={classes.words}>{children}</div>}
      {action}
    </div>
  )
}

/** Error state with a retry button. A view of another account keeps private content closed. */
export function Failure({ problem, retry }: { problem: unknown; retry?: () => void }) {
  if (isClosedInView(problem))
    return (
      <p className={classes.closed}>
        <IconLock size={16} aria-hidden />
        {t('Private. Your view of this account doesn’t show it.')}
      </p>
    )
  const unreached = problem instanceof ApiProblem && problem.status === 0
  return (
    <div role="alert">
      <Notice
        icon={IconPlugConnectedX}
        title={unreached ? t('Connection failed') : t('Couldn’t load this')}
        action={
          retry && (
            <ActionButton onClick={retry}>
              <IconRefresh size={18} aria-hidden />
              {t('Try again')}
            </ActionButton>
          )
        }
      >
        {formatProblem(problem)}
      </Notice>
    </div>
  )
}
