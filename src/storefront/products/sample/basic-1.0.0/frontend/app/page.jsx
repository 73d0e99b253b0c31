'use client'
import { useState } from 'react'

const api = process.env.NEXT_PUBLIC_API_URL ?? 'http://localhost:8000'

export default function Home() {
  const [message, setMessage] = useState('')

  async function submit(event) {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const path = event.nativeEvent.submitter?.value ?? 'login'
    const reply = await fetch(`${api}/api/auth/${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(Object.fromEntries(form)),
    })
    const body = await reply.json()
    setMessage(reply.ok ? 'You are signed in.' : typeof body.detail === 'string' ? body.detail : 'Please check both fields.')
  }

  return (
    <main>
      <h1>Starter kit</h1>
      <form onSubmit={submit}>
        <p><label>Email <input name="email" type="email" autoComplete="email" required /></label></p>
        <p><label>Password <input name="password" type="password" minLength={8} required /></label></p>
        <button value="login">Sign in</button> <button value="register">Create an account</button>
      </form>
      <p role="status">{message}</p>
    </main>
  )
}
