import { call } from './client.ts'
import { parseForms } from './forms.ts'

/**
 * Pays on the hosted page like a browser without scripts: opens it, leaves the selected card,
 * presses the button.
 */
export async function pay(url: string): Promise<void> {
  const page = await call('GET', url)
  const form = parseForms(page.text, url).find((candidate) => candidate.buttons.some(saysPay))
  if (!form) throw new Error(`no form to pay with at ${url}`)
  const button = form.buttons.find(saysPay)
  const fields = new URLSearchParams(form.fields)
  if (button?.name) fields.set(button.name, button.value)
  await call('POST', form.action, { form: fields }, [302, 303])
}

const saysPay = ({ label }: { label: string }) => /pay|subscribe/i.test(label)
