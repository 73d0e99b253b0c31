// First: it takes a sign-in's tokens out of the address before the router reads it.
import './sign-in/callback-tokens.ts'
import '@mantine/core/styles.css'
import './theme/global.css'
import { MantineProvider } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { queries } from './api/queries.ts'
import { router } from './routes.tsx'
import { session } from './session/browser-session.ts'
import { theme, variables } from './theme/theme.ts'

// Signing in or out, here or in another tab: nothing of the one before may stay. Who leaves is led to the sign-in page
// first, so that no page is left behind that would ask again; who arrives finds nothing cached.
session.subscribe(() => {
  if (session.isSignedIn()) {
    queries.clear()
    void router.invalidate()
  } else {
    void router.invalidate().then(() => queries.clear())
  }
})

const root = document.getElementById('root')
if (!root) throw new Error('index.html has no #root')

createRoot(root).render(
  <StrictMode>
    <MantineProvider theme={theme} cssVariablesResolver={variables} defaultColorScheme="auto">
      <QueryClientProvider client={queries}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
)
