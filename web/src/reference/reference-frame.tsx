import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { language } from '../language/language.ts'
import { t } from '../language/text.ts'
import { GROUPS } from './operations.ts'
import classes from './reference.module.css'

/** The list of operations beside a page of the reference. */
export function ReferenceFrame({ children }: { children: ReactNode }) {
  return (
    <div className={classes.frame}>
      <nav className={classes.nav} aria-label={t('Reference')}>
        <Link
          to="/reference"
          activeOptions={{ exact: true }}
          activeProps={{ 'aria-current': 'page' }}
        >
          {t('Getting started')}
        </Link>
        <OperationLinks />
        <Link to="/errors">{t('Error codes')}</Link>
      </nav>
      <div className={classes.content}>
        {language !== 'en' && (
          <p className={classes.note}>{t('The descriptions of operations are in English.')}</p>
        )}
        {children}
      </div>
    </div>
  )
}

export function OperationLinks() {
  return GROUPS.map(({ title, operations }) => (
    <section key={title}>
      <h2>{title}</h2>
      <ul>
        {operations.map(({ id, method, path, title: about }) => (
          <li key={id}>
            <Link
              to="/reference/$operation"
              params={{ operation: id }}
              activeProps={{ 'aria-current': 'page' }}
              title={about}
            >
              <span className={classes.method} data-method={method}>
                {method}
              </span>
              <span className={classes.path}>{path}</span>
            </Link>
          </li>
        ))}
      </ul>
    </section>
  ))
}
