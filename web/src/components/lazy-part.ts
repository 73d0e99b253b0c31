import { type FunctionComponent, lazy } from 'react'

/** Loads a component when it is first rendered. `name` is its name in the module. */
export function lazyPart<Name extends string, Props extends object>(
  load: () => Promise<Record<Name, FunctionComponent<Props>>>,
  name: Name,
) {
  return lazy(() => load().then((module) => ({ default: module[name] })))
}
