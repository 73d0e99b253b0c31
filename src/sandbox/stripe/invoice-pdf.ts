/** Builds an invoice's PDF. Uses text in the viewer's Helvetica only, so nothing is embedded. */
import type { Stripe } from 'stripe'
import { money } from '../page.ts'
import { toIso } from './hosted-page.ts'

type Written = { x: number; y: number; size: number; text: string; bold?: boolean }

const TOP = 780
const BOTTOM = 60
const LEADING = 16

export function invoicePdf(invoice: Stripe.Invoice): Buffer {
  return writePdf(layOutPages(listRows(invoice)))
}

type Row = { left: string; right?: string; bold?: boolean; size?: number }

function listRows(invoice: Stripe.Invoice): Row[] {
  const { currency } = invoice
  const cash = (minor: number) => money(minor, currency)
  const day = (at: number | null | undefined) => (at ? toIso(at).slice(0, 10) : '')
  const off = (invoice.total_discount_amounts ?? []).reduce((sum, { amount }) => sum + amount, 0)
  const address = [
    invoice.customer_address?.line1,
    invoice.customer_address?.line2,
    [invoice.customer_address?.postal_code, invoice.customer_address?.city]
      .filter(Boolean)
      .join(' '),
    invoice.customer_address?.country,
  ]
  const people = [invoice.customer_name, invoice.customer_email, ...address]
  const credit = invoice.total - invoice.amount_due
  return [
    {
      left: `Invoice ${invoice.number ?? '(draft)'}`,
      right: String(invoice.status),
      bold: true,
      size: 20,
    },
    { left: '' },
    { left: `Issued by ${invoice.account_name}` },
    {
      left: `Date ${day(invoice.effective_at ?? invoice.created)}`,
      right: describePayment(day(invoice.status_transitions.paid_at)),
    },
    { left: '' },
    { left: 'Billed to', bold: true },
    ...people.filter(Boolean).map((left) => ({ left: String(left) })),
    ...(invoice.customer_tax_ids ?? []).map(({ type, value }) => ({ left: `${type} ${value}` })),
    { left: '' },
    { left: 'Description', right: 'Amount', bold: true },
    ...invoice.lines.data.flatMap((line) => [
      { left: line.description ?? '', right: cash(line.amount) },
      { left: `    ${day(line.period.start)} - ${day(line.period.end)}`, size: 8 },
    ]),
    { left: '' },
    { left: 'Subtotal', right: cash(invoice.subtotal) },
    ...(off > 0 ? [{ left: 'Discount', right: cash(-off) }] : []),
    ...(invoice.total_taxes ?? []).map((tax) => ({
      left:
        tax.taxability_reason === 'reverse_charge'
          ? 'Tax to be paid on a reverse charge basis'
          : describeTax(tax),
      right: cash(tax.amount),
    })),
    { left: 'Total', right: cash(invoice.total), bold: true },
    ...(credit !== 0 && invoice.total > 0
      ? [{ left: 'Paid from the balance', right: cash(-credit) }]
      : []),
    { left: 'Amount due', right: cash(invoice.amount_due), bold: true },
    { left: 'Amount paid', right: cash(invoice.amount_paid) },
    { left: '' },
    { left: 'Sandbox: no money was moved, and this is no tax document.', size: 8 },
  ]
}

const describePayment = (day: string) => (day === '' ? '' : `Paid ${day}`)
const describeTax = (tax: Stripe.Invoice.TotalTax) =>
  tax.tax_behavior === 'inclusive' ? 'Tax (included)' : 'Tax'

function layOutPages(rows: readonly Row[]): Written[][] {
  const pages: Written[][] = [[]]
  let y = TOP
  for (const { left, right = '', bold = false, size = 10 } of rows) {
    y -= Math.max(LEADING, size + 6)
    if (y < BOTTOM) {
      pages.push([])
      y = TOP
    }
    const page = pages.at(-1) as Written[]
    page.push({ x: 60, y, size, text: left, bold })
    // Helvetica's digits are 0.556 em wide; letters have about this width.
    if (right !== '')
      page.push({ x: 535 - right.length * size * 0.556, y, size, text: right, bold })
  }
  return pages
}

function writePdf(pages: readonly Written[][]): Buffer {
  const font = (name: string) =>
    `<< /Type /Font /Subtype /Type1 /BaseFont /${name} /Encoding /WinAnsiEncoding >>`
  const first = 5
  const kids = pages.map((_, index) => `${first + 2 * index} 0 R`).join(' ')
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Kids [${kids}] /Count ${pages.length} >>`,
    font('Helvetica'),
    font('Helvetica-Bold'),
    ...pages.flatMap((page, index) => {
      const stream = page.map(textOperator).join('\n')
      return [
        `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R /F2 4 0 R >> >> /Contents ${first + 2 * index + 1} 0 R >>`,
        `<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`,
      ]
    }),
  ]
  let text = '%PDF-1.4\n'
  const offsets = objects.map((object, index) => {
    const at = text.length
    text += `${index + 1} 0 obj\n${object}\nendobj\n`
    return at
  })
  const xref = offsets.map((at) => `${String(at).padStart(10, '0')} 00000 n \n`).join('')
  const count = objects.length + 1
  text += `xref\n0 ${count}\n0000000000 65535 f \n${xref}trailer\n<< /Size ${count} /Root 1 0 R >>\nstartxref\n${text.length}\n%%EOF\n`
  return Buffer.from(text, 'latin1')
}

function textOperator({ x, y, size, text, bold }: Written): string {
  return `BT /${bold ? 'F2' : 'F1'} ${size} Tf ${x.toFixed(1)} ${y} Td (${literal(text)}) Tj ET`
}

/** WinAnsi has the euro at 0x80. Missing characters become question marks. */
function literal(text: string): string {
  return [...text]
    .map((letter) => (letter === '€' ? '\\200' : /[ -~\u00a1-\u00ff]/.test(letter) ? letter : '?'))
    .join('')
    .replace(/[()]|\\(?!200)/g, '\\$&')
}
