import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { GROUPS } from './operations.ts'
import classes from './reference.module.css'

/** The list of operations beside a page of the reference. */
export function ReferenceFrame({ children }: { children: ReactNode }) {
  return (
    <div className={classes.frame}>
      <nav className={classes.nav} aria-label="Reference">
        <Link
          to="/reference"
          activeOptions={{ exact: true }}
          activeProps={{ 'aria-current': 'page' }}
        >
          Getting started
        </Link>
        <OperationLinks />
        <Link to="/errors">Error codes</Link>
      </nav>
      <div className={classes.content}>{children}</div>
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
