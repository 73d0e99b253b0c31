import type { ComponentPropsWithRef, ReactNode } from 'react'
import classes from './icon-button.module.css'

type IconButtonProps = Omit<ComponentPropsWithRef<'button'>, 'aria-label'> & {
  label: string
  children: ReactNode
}

/** Button with an icon. Its label shows on hover and on keyboard focus. */
export function IconButton({ label, children, className, ...button }: IconButtonProps) {
  return (
    <button
      type="button"
      {...button}
      aria-label={label}
      data-tip={label}
      className={className ? `${classes.button} ${className}` : classes.button}
    >
      {children}
    </button>
  )
}
