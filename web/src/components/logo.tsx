import type { SVGProps } from 'react'
import { BRAND } from './brand.ts'
import classes from './logo.module.css'

/** The logo, a key, in the current text color. */
export function Mark(props: SVGProps<SVGSVGElement>) {
  return (
    <svg
      viewBox="0 0 32 32"
      width="26"
      height="26"
      fill="currentColor"
      aria-hidden="true"
      focusable="false"
      {...props}
    >
      <path
        fillRule="evenodd"
        d="M10.7 12.6a8.7 8.7 0 1 1 0 17.4 8.7 8.7 0 0 1 0-17.4ZM7.7 25.4h6v-5.1a3 3 0 0 0-6 0v5.1Z"
      />
      <path
        transform="rotate(-45 16 16)"
        d="M15.8 14h15.7v3.9h-1.7V22h-3.4v-4.1h-2.5v5.3h-3.4v-5.3h-4.7z"
      />
    </svg>
  )
}

export function Wordmark() {
  return (
    <span className={classes.wordmark}>
      <Mark />
      <span>{BRAND}</span>
    </span>
  )
}
