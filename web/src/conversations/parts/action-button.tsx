import type { ComponentPropsWithRef } from 'react'
import classes from './action-button.module.css'

type ActionButtonProps = ComponentPropsWithRef<'button'> & { tone?: 'plain' | 'primary' | 'danger' }

export function ActionButton({ tone = 'plain', ...button }: ActionButtonProps) {
  return <button type="button" {...button} data-tone={tone} className={classes.button} />
}
