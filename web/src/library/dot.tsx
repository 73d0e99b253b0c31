import classes from './dot.module.css'
import type { Collection } from './files-query.ts'

/** The color of a collection. Its name stands beside it, or is the title. */
export function Dot({ colour, title }: { colour: Collection['colour']; title?: string }) {
  return <span className={classes.dot} data-colour={colour} title={title} aria-hidden />
}
