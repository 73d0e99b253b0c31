/** A superuser uploads, publishes and withdraws releases. The rules are the storefront's. */
import multipart from '@fastify/multipart'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Content } from '#platform/content.ts'
import { requireCaller } from '#platform/http/access-control.ts'
import { type App, MEGABYTE } from '#platform/http/app.ts'
import { Message } from '#platform/http/schema.ts'
import { validatorCompiler } from '#platform/http/validation.ts'
import { invalid, platformProblem } from '#platform/problems.ts'
import type { TemporaryFiles } from '#platform/temporary-files.ts'
import {
  changeNotes,
  deleteDraft,
  listProductReleases,
  NOTES_MAX,
  publishRelease,
  type ReleaseEditingDeps,
  ReleaseView,
  uploadRelease,
  withdrawRelease,
} from '#storefront/products/release-editing.ts'
import { openReleaseZip } from '#storefront/products/release-files.ts'
import { adminRoute, readChange } from './admin-route.ts'

const Tier = Type.String({ minLength: 1, maxLength: 64 })
const Version = Type.String({ minLength: 1, maxLength: 64 })
const params = Type.Object({ tier: Tier, version: Version })
const Notes = Type.String({ maxLength: NOTES_MAX, description: 'Markdown' })

const UPLOAD_BYTES_MAX = 2 * 1024 * MEGABYTE

const ReleaseForm = Type.Object({
  version: Version,
  notes: Type.Optional(Notes),
  file: Type.Unsafe<unknown>({ type: 'string', format: 'binary', description: 'A ZIP' }),
})

type Deps = ReleaseEditingDeps & { temporaryFiles: TemporaryFiles }

export async function adminReleaseRoutes(app: App, deps: Deps): Promise<void> {
  app.get(
    '/api/admin/products/:tier/releases',
    adminRoute('listReleases', 'List the releases of a product, newest first', {
      params: Type.Object({ tier: Tier }),
      response: { 200: Type.Object({ releases: Type.Array(ReleaseView) }) },
    }),
    async ({ params: { tier } }) => ({ releases: await listProductReleases(deps, tier) }),
  )
  await app.register(async (plain) =>
    uploadRoute(plain.withTypeProvider<TypeBoxTypeProvider>(), deps),
  )

  app.patch(
    '/api/admin/products/:tier/releases/:version',
    adminRoute('changeRelease', 'Change the notes of a release', {
      params,
      body: Type.Object({ notes: Notes }),
      response: { 200: ReleaseView },
    }),
    (request) => changeNotes(deps, readChange(request), request.body.notes),
  )

  app.delete(
    '/api/admin/products/:tier/releases/:version',
    adminRoute('deleteRelease', 'Delete a draft with its files', {
      params,
      response: { 200: Message },
    }),
    async (request) => {
      await deleteDraft(deps, readChange(request))
      return { message: 'Draft deleted' }
    },
  )

  for (const [action, apply, summary] of [
    ['publish', publishRelease, 'Pack a release and offer it to buyers; a withdrawn one again'],
    ['withdraw', withdrawRelease, 'Stop all downloads of a release; buyers get the one before'],
  ] as const) {
    app.post(
      `/api/admin/products/:tier/releases/:version/${action}`,
      adminRoute(`${action}Release`, summary, { params, response: { 200: ReleaseView } }),
      (request) => apply(deps, readChange(request)),
    )
  }
}

function uploadRoute(app: App, deps: Deps): void {
  app.register(multipart)
  app.post(
    '/api/admin/products/:tier/releases',
    {
      ...adminRoute(
        'uploadRelease',
        'Upload a ZIP as a draft',
        {
          description: `At most ${UPLOAD_BYTES_MAX / MEGABYTE} MB. An archive that is encrypted or damaged, has links, or could write outside of its folder is refused with a reason. The reply lists what is left out.`,
          consumes: ['multipart/form-data'],
          params: Type.Object({ tier: Tier }),
          body: ReleaseForm,
          response: { 201: ReleaseView },
        },
        // The body goes to a file as it arrives, so it needs no memory.
        { bodies: 'uncounted' },
      ),
      bodyLimit: UPLOAD_BYTES_MAX + MEGABYTE,
      validatorCompiler: (part) =>
        part.httpPart === 'body' ? (value: unknown) => ({ value }) : validatorCompiler(part),
    },
    async (request, reply) => {
      const { tier } = request.params
      const { version, notes, content } = await readUpload(deps, request, reply)
      const release = await openReleaseZip(content)
      const actorId = requireCaller(request).userId
      const stored = await uploadRelease(deps, { actorId, tier, version }, { ...release, notes })
      return reply.code(201).send(stored)
    },
  )
}

/** Form fields may come before or after the file. @throws Problem 413, 415, 422 and 503 */
async function readUpload(
  { temporaryFiles }: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<{ version: string; notes: string; content: Content }> {
  if (!request.isMultipart())
    throw platformProblem('media_type_unsupported', { wanted: 'multipart/form-data' })
  const fields = new Map<string, string>()
  let content: Content | undefined
  try {
    for await (const part of request.parts({
      limits: { fileSize: UPLOAD_BYTES_MAX, files: 1, fields: 5, fieldSize: 4 * NOTES_MAX },
    })) {
      if (part.type === 'field') fields.set(part.fieldname, String(part.value))
      else content = removeAfterReply(reply, await temporaryFiles.take(part.file))
    }
  } catch (error) {
    const { code } = error as { code?: string }
    if (code === 'FST_REQ_FILE_TOO_LARGE') throw platformProblem('body_too_large')
    if (code?.startsWith('FST_')) throw invalid(['body', 'file'], 'Should be one file in a form')
    throw error
  }
  const version = fields.get('version')
  const notes = fields.get('notes') ?? ''
  if (version === undefined) throw invalid(['body', 'version'], 'Field required', 'missing')
  if (notes.length > NOTES_MAX)
    throw invalid(['body', 'notes'], `Should have at most ${NOTES_MAX} characters`)
  if (content === undefined) throw invalid(['body', 'file'], 'Field required', 'missing')
  return { version, notes, content }
}

/** Removes the file when the reply ends or the client leaves. */
function removeAfterReply(reply: FastifyReply, content: Content): Content {
  if (reply.raw.destroyed) content.remove()
  else reply.raw.once('close', () => content.remove())
  return content
}
