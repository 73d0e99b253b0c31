import { createContext } from 'react'

/** True in the block that an answer is being written into. */
export const IsGrowing = createContext(false)
