/** An error of the processor: `{error: {type, code, message, param, decline_code}}`. */
export class Fault extends Error {
  readonly status: number
  readonly body: {
    type: string
    code?: string | undefined
    message: string
    param?: string
    decline_code?: string
  }

  constructor(status: number, body: Fault['body']) {
    super(body.message)
    this.status = status
    this.body = body
  }
}

/** A request that the processor refuses with this message. */
export const refused = (status: number, message: string, code?: string) =>
  new Fault(status, { type: 'invalid_request_error', code, message })

export const badParameter = (param: string, message: string, code = 'parameter_invalid') =>
  new Fault(400, { type: 'invalid_request_error', code, message, param })

export const missingParameter = (param: string) =>
  badParameter(param, `Missing required param: ${param}.`, 'parameter_missing')

export const missingObject = (what: string, id: string) =>
  refused(404, `No such ${what}: '${id}'`, 'resource_missing')

/** The same error for an id in a parameter: 400 instead of 404. */
export const badReference = (what: string, id: string, param: string) =>
  badParameter(param, `No such ${what}: '${id}'`, 'resource_missing')

/** Converts a thrown error for the caller. All errors except faults become internal errors. */
export function toFault(error: Error & { statusCode?: number }): Fault {
  if (error instanceof Fault) return error
  const status = error.statusCode ?? 500
  return status < 500
    ? new Fault(status, { type: 'invalid_request_error', message: error.message })
    : new Fault(500, { type: 'api_error', message: `The sandbox failed: ${error.message}` })
}
