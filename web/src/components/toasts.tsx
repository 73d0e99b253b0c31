import { useEffect, useState } from 'react'
import classes from './toasts.module.css'

const SHOWN_MS = 6_000

const events = new EventTarget()

/** Says that something is done, for a few seconds, on any page. */
export function showToast(message: string): void {
  events.dispatchEvent(new CustomEvent('toast', { detail: message }))
}

export function Toasts() {
  const [message, setMessage] = useState('')
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const show = (event: Event) => {
      setMessage((event as CustomEvent<string>).detail)
      clearTimeout(timer)
      timer = setTimeout(() => setMessage(''), SHOWN_MS)
    }
    events.addEventListener('toast', show)
    return () => {
      clearTimeout(timer)
      events.removeEventListener('toast', show)
    }
  }, [])
  return (
    <div role="status" className={classes.place}>
      {message && <div className={classes.toast}>{message}</div>}
    </div>
  )
}
