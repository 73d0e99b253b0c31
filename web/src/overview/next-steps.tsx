import { IconCheck } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { t } from '../language/text.ts'
import classes from './next-steps.module.css'
import { Panel } from './panel.tsx'
import type { Step } from './use-steps.ts'

/** Checklist for new users. */
export function NextSteps({ steps }: { steps: Step[] }) {
  const done = steps.filter((step) => step.done).length
  return (
    <div className={classes.place}>
      <Panel title={t('Next steps')} aside={t('{0} of {1} done', done, steps.length)}>
        <ol className={classes.steps}>
          {steps.map((step) => (
            <li key={step.label}>
              <Link to={step.to} className={classes.step} data-done={step.done || undefined}>
                <span className={classes.mark} aria-hidden>
                  {step.done && <IconCheck size={14} stroke={2.4} />}
                </span>
                <span>
                  <span className={classes.label}>{step.label}</span>
                  {step.done ? (
                    <span className="visually-hidden">{t(', done')}</span>
                  ) : (
                    <span className={classes.hint}>{step.hint}</span>
                  )}
                </span>
              </Link>
            </li>
          ))}
        </ol>
      </Panel>
    </div>
  )
}
