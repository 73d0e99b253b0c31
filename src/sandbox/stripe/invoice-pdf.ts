/** Builds an invoice's PDF: one page with text in the viewer's Helvetica, so nothing is embedded. */
import type { Stripe } from 'stripe'
import { money } from '../page.ts'
import { toIso } from './hosted-page.ts'

type Row = { left?: string; right?: string; bold?: boolean; size?: number }

const TOP = 780
const LEADING = 16

export function invoicePdf(invoice: Stripe.Invoice): Buffer {
  let y = TOP
  const texts = listRows(invoice).flatMap(({ left = '', right = '', bold = false, size = 10 }) => {
    y -= Math.max(LEADING, size + 6)
    const write = (x: number, text: string) =>
      `BT /${bold ? 'F2' : 'F1'} ${size} Tf ${x.toFixed(1)} ${y} Td (${literal(text)}) Tj ET`
    // Helvetica's digits are 0.556 em wide; letters have about this width.
    return [write(60, left), write(535 - right.length * size * 0.556, right)]
  })
  return writePdf(texts.join('\n'))
}

function listRows(invoice: Stripe.Invoice): Row[] {
  const cash = (minor: number) => money(minor, invoice.currency)
  const day = (at: number | null | undefined) => (at ? toIso(at).slice(0, 10) : '')
  const off = (invoice.total_discount_amounts ?? []).reduce((sum, { amount }) => sum + amount, 0)
  const credit = invoice.total - invoice.amount_due
  const paidAt = day(invoice.status_transitions.paid_at)
  const issuedAt = day(invoice.effective_at ?? invoice.created)
  const taxIds = (invoice.customer_tax_ids ?? []).map(({ type, value }) => `${type} ${value}`)
  return [
    { left: `Invoice ${invoice.number}`, right: String(invoice.status), bold: true, size: 20 },
    {},
    { left: `Issued by ${invoice.account_name}` },
    { left: `Date ${issuedAt}`, right: paidAt && `Paid ${paidAt}` },
    {},
    { left: 'Billed to', bold: true },
    ...[invoice.customer_name, invoice.customer_email, ...taxIds].map((left) => ({
      left: left ?? '',
    })),
    {},
    { left: 'Description', right: 'Amount', bold: true },
    ...invoice.lines.data.flatMap(({ description, amount, period }) => [
      { left: description ?? '', right: cash(amount) },
      { left: `    ${day(period.start)} - ${day(period.end)}`, size: 8 },
    ]),
    {},
    { left: 'Subtotal', right: cash(invoice.subtotal) },
    ...(off > 0 ? [{ left: 'Discount', right: cash(-off) }] : []),
    ...(invoice.total_taxes ?? []).map((tax) => ({
      left: describeTax(tax),
      right: cash(tax.amount),
    })),
    { left: 'Total', right: cash(invoice.total), bold: true },
    ...(credit > 0 && invoice.total > 0
      ? [{ left: 'Paid from the balance', right: cash(-credit) }]
      : []),
    { left: 'Amount due', right: cash(invoice.amount_due), bold: true },
    { left: 'Amount paid', right: cash(invoice.amount_paid) },
    {},
    { left: 'Sandbox: no money was moved, and this is no tax document.', size: 8 },
  ]
}

export function describeTax(tax: Stripe.Invoice.TotalTax): string {
  if (tax.taxability_reason === 'reverse_charge') return 'Tax (reverse charge)'
  return tax.tax_behavior === 'inclusive' ? 'Tax (included)' : 'Tax'
}

function writePdf(stream: string): Buffer {
  const font = (name: string) =>
    `<< /Type /Font /Subtype /Type1 /BaseFont /${name} /Encoding /WinAnsiEncoding >>`
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [5 0 R] /Count 1 >>',
    font('Helvetica'),
    font('Helvetica-Bold'),
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R /F2 4 0 R >> >> /Contents 6 0 R >>',
    `<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`,
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

/** WinAnsi has the euro at 0x80. Missing characters become question marks. */
function literal(text: string): string {
  return [...text]
    .map((letter) => (letter === '€' ? '\\200' : /[ -~\u00a1-\u00ff]/.test(letter) ? letter : '?'))
    .join('')
    .replace(/[()]|\\(?!200)/g, '\\$&')
}
