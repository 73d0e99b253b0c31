/** Reads the BRAND file. A logo in it is a `data:` address, or a path beside the file. */

import { readFileSync } from 'node:fs'
import { dirname, extname, resolve } from 'node:path'
import { Compile } from 'typebox/compile'
import { findIssues } from '#platform/http/issues.ts'
import { isObject } from '#platform/json.ts'
import { BrandForm, findFaults } from './form.ts'

const TYPES: Record<string, string> = {
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.webp': 'image/webp',
}

/** @throws Error that names the field */
export function readBrandFile(path: string): BrandForm {
  const value: unknown = JSON.parse(readFileSync(path, 'utf8'))
  const form = isObject(value) && isObject(value.logo) ? embedLogos(value, value.logo, path) : value
  const issues = Compile(BrandForm).Check(form) ? findFaults(form) : findIssues('', BrandForm, form)
  const [issue] = issues
  if (issue === undefined) return form as BrandForm
  throw new Error(`${issue.loc.filter(Boolean).join('.') || 'the file'}: ${issue.msg}`)
}

function embedLogos(form: object, logo: Record<string, unknown>, path: string): object {
  return {
    ...form,
    logo: Object.fromEntries(
      Object.entries(logo).map(([kind, value]) => [kind, embedLogo(value, path)]),
    ),
  }
}

function embedLogo(value: unknown, path: string): unknown {
  if (typeof value !== 'string' || value.startsWith('data:')) return value
  const type = TYPES[extname(value).toLowerCase()]
  if (type === undefined) throw new Error(`${value} is no SVG, PNG, JPEG or WebP`)
  const bytes = readFileSync(resolve(dirname(path), value))
  return `data:${type};base64,${bytes.toString('base64')}`
}
