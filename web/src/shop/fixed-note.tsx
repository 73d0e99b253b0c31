import { IconFileCode } from '@tabler/icons-react'
import { rich } from '../language/rich.ts'
import classes from './products.module.css'

/** Why nothing can be changed here. */
export function FixedNote() {
  return (
    <p className={classes.fixed}>
      <IconFileCode size={20} aria-hidden />
      <span>
        {rich(
          'The file of {0} defines the products, so they can’t be changed here. Edit the file, or remove its products to edit them here.',
          <code>CATALOGUE</code>,
        )}
      </span>
    </p>
  )
}
