import { IconFileCode } from '@tabler/icons-react'
import classes from './products.module.css'

/** Why nothing can be changed here. */
export function FixedNote() {
  return (
    <p className={classes.fixed}>
      <IconFileCode size={20} aria-hidden />
      <span>
        The file of <code>CATALOGUE</code> defines the products, so they can’t be changed here. Edit
        the file, or remove its products to edit them here.
      </span>
    </p>
  )
}
