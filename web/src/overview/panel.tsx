import { type ReactNode, useId } from 'react'
import classes from './panel.module.css'

type PanelProps = {
  title: string
  /** A number, or a link to everything. */
  aside?: ReactNode
  children: ReactNode
}

export function Panel({ title, aside, children }: PanelProps) {
  const id = useId()
  return (
    <section aria-labelledby={id} className={classes.panel}>
      <div className={classes.head}>
        <h2 id={id}>{title}</h2>
        {aside}
      </div>
      {children}
    </section>
  )
}

/** Rows that have loaded, or a sentence when there are none. */
export function Rows<T>({ rows, none, children }: RowsProps<T>) {
  if (rows === undefined) {
    return (
      <div aria-busy="true" className={classes.rows}>
        {['a', 'b', 'c'].map((key) => (
          <div key={key} className={classes.waiting} />
        ))}
      </div>
    )
  }
  if (rows.length === 0) return <p className={classes.none}>{none}</p>
  return <ul className={classes.rows}>{rows.map(children)}</ul>
}

type RowsProps<T> = {
  rows: readonly T[] | undefined
  none: ReactNode
  children: (row: T) => ReactNode
}
