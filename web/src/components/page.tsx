import type { ReactNode } from 'react'
import classes from './page.module.css'
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
    <div className={classes.page} data-wide={wide || undefined}>
      <div className={classes.head}>
        <div className={classes.words}>
          <h1>{title}</h1>
          {lead && <p>{lead}</p>}
        </div>
        {actions}
      </div>
      {children}
    </div>
  )
}
