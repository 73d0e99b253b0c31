import { brand } from './brand.ts'
import classes from './logo.module.css'

type MarkProps = { size?: number; src?: string | null }

/** The brand's icon; for the built-in brand a key. */
export function Mark({ size = 26, src = brand.mark }: MarkProps) {
  if (src !== null)
    return <img className={classes.mark} src={src} width={size} height={size} alt="" />
  return (
    <svg
      className={classes.mark}
      viewBox="0 0 32 32"
      width={size}
      height={size}
      fill="currentColor"
      aria-hidden="true"
      focusable="false"
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
  if (brand.logo !== null) {
    return (
      <>
        <img className={classes.light} src={brand.logo.light} height={28} alt={brand.name} />
        <img className={classes.dark} src={brand.logo.dark} height={28} alt={brand.name} />
      </>
    )
  }
  return (
    <span className={classes.wordmark}>
      <Mark />
      <span>{brand.name}</span>
    </span>
  )
}
