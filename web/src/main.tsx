// Must be first: removes sign-in tokens from the address before the router reads it.
import './sign-in/callback-tokens.ts'
import '@mantine/core/styles/baseline.layer.css'
import '@mantine/core/styles/global.layer.css'
import './theme/fonts.ts'
import './theme/global.css'
import { MantineProvider } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { queries } from './api/queries.ts'
import { brand } from './components/brand.ts'
import { router } from './routes.tsx'
import { session } from './session/browser-session.ts'
import { buildTheme, buildVariables } from './theme/theme.ts'

// Clear cached data on sign-in and sign-out in any tab. After a sign-out, navigate first, so that
// no open page loads its data again.
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
    <MantineProvider
      theme={buildTheme(brand)}
      cssVariablesResolver={buildVariables(brand)}
      defaultColorScheme="auto"
      // Writes all variables itself, which saves the sheet with their defaults.
      deduplicateCssVariables={false}
    >
      <QueryClientProvider client={queries}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
)
