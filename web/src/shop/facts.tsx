import { type ReactNode, useId } from 'react'
import { CopyIcon } from '../components/copy.tsx'
import classes from './order-page.module.css'

type PanelProps = { title: string; aside?: ReactNode; children: ReactNode }

/** A titled box with facts. */
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

export function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </>
  )
}

export function CopiedFact({ label, value }: { label: string; value: string }) {
  return (
    <Fact label={label}>
      <span className="mono">{value}</span>
      <CopyIcon value={value} what={`${label.toLowerCase()} ID`} />
    </Fact>
  )
}
