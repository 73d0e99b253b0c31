/** Separates the titles of a heading's path: `Terms › Notice`. */
export const BELOW = ' › '
